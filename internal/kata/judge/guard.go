package judge

import (
	"cmp"
	"encoding/json"
	"os"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockkata/internal/i18n"
)

// How long things may take. A scenario takes some milliseconds, so a lock that needs
// these is not slow but stuck. The guard counts how often it has looked, not the time on
// the wall: a busy machine, on which everything takes longer, lets it look less often.
const (
	scenarioLimit = 4 * time.Second
	runLimit      = 8 * time.Second
	guardPeriod   = 50 * time.Millisecond
	memoryLimit   = 1 << 29 // the system refuses twice that
)

// guard watches a run from outside its bubbles. A lock that never comes to rest
// stops the world it is in for good; the guard finds out where the lock stands,
// writes that down, and ends the process.
type guard struct {
	out      *os.File
	lang     i18n.Language // of what it writes
	scenario time.Duration // the longest that a scenario may take
	longest  time.Duration // the longest that all may take
	over     atomic.Bool   // the scenario has ended, and what is left is winding down
	optional atomic.Bool   // what is required has been played

	mu      sync.Mutex
	during  string        // what is being played; "" between two
	playing time.Duration // for how long, by the looks
	running time.Duration // how long all has taken
	judged  bool          // there is a verdict already
}

func newGuard(out *os.File, task Task) *guard {
	return &guard{
		out: out, lang: task.Lang, longest: task.longest(), scenario: cmp.Or(task.Stuck, time.Duration(max(task.Patience, 1))*scenarioLimit),
	}
}

// enter begins a scenario; with "" it ends it.
func (g *guard) enter(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.during, g.playing = what, 0
	g.over.Store(false)
}

// write writes a line. It is the only thing that leaves the process.
func (g *guard) write(l Line) {
	raw, err := json.Marshal(l)
	if err != nil {
		panic("judge: a line is always JSON: " + err.Error())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.judged = g.judged || l.Verdict != nil && l.Verdict.Required && !l.Verdict.Good
	_, _ = g.out.Write(append(raw, '\n')) // whoever reads it misses the last line
}

// convict writes the cause and ends the process.
func (g *guard) convict(c *Cause) {
	g.tell(c)
	os.Exit(0)
}

// tell writes the cause.
func (g *guard) tell(c *Cause) {
	g.mu.Lock()
	c.During = g.during
	g.mu.Unlock()
	c.Text, c.Next = i18n.Text(c.Text.Localize(g.lang)).Args(), i18n.Text(c.Next.Localize(g.lang)).Args()
	c.Optional = g.optional.Load()
	g.write(Line{Cause: c})
}

var (
	allIsLate = i18n.New("All that is asked takes longer than {time} with your lock.")
	lateNext  = i18n.New("Look for a loop that does much for nothing; or try again when the machine is less busy.")
)

// watch looks again and again whether the run still moves.
func (g *guard) watch() {
	for range time.Tick(guardPeriod) {
		g.mu.Lock()
		g.playing += guardPeriod
		g.running += guardPeriod
		isStuck, late, judged := g.during != "" && g.playing > g.scenario, g.running > g.longest, g.judged
		g.mu.Unlock()
		switch {
		case isStuck:
			g.convict(diagnose(g.over.Load(), g.scenario))
		case late && judged: // what has been found is enough to go on with
			g.write(Line{Done: true})
			os.Exit(0)
		case late:
			g.convict(Because(TooSlow, lateNext, allIsLate.Args("time", g.longest)))
		case heap() > memoryLimit:
			g.convict(Hoards(nearby()))
		}
	}
}

// heap is how many bytes are in use. It does not stop the world, as other ways to
// ask do: a world that copies gigabytes cannot be stopped.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// nearby names a line at which the lock runs now, if there is one.
func nearby() i18n.Message {
	for _, g := range ofLock() {
		if g.inner.file != "" && g.isRunning() {
			return g.inner.at()
		}
	}
	return i18n.Message{}
}

var (
	loopsAt    = i18n.New("{call} runs without end at {line}: it neither waits nor asks Redis.")
	loopNext   = i18n.New("Let the loop wait: for a timer, for a message, or for ctx.Done().")
	noLineRuns = i18n.New("The run does not end, and no line of your lock is under way.")
	tryAgain   = i18n.New("Try again; the machine may be busy.")
)

// diagnose finds out why a scenario does not end after that time: it looks at where the
// lock's goroutines stand.
func diagnose(over bool, after time.Duration) *Cause {
	if heap() > searchMemory { // what takes so long is to find more
		return Hoards(nearby())
	}
	all := ofLock()
	find := func(is func(goroutine) bool) *goroutine {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return &all[i]
		}
		return nil
	}
	waiting := find(func(g goroutine) bool { return g.isMutex() && g.inner.file != "" })
	loops := find(func(g goroutine) bool { return g.isRunning() && g.inner.file != "" && !g.redis })
	own := find(func(g goroutine) bool { return g.created.file != "" })
	call := find(func(g goroutine) bool { return g.inner.file != "" })
	switch {
	case waiting != nil:
		return mutexHeld(*waiting, all)
	case loops != nil && over && loops.created.file != "":
		return leaking(*loops)
	case loops != nil:
		return Because(EndlessLoop, loopNext, loopsAt.Args("call", loops.inner.function, "line", loops.inner.place()))
	case own != nil:
		return leaking(*own)
	case call != nil:
		return stuck(call.inner.function, after.String(), *call)
	}
	return Because(TooSlow, tryAgain, noLineRuns.Args())
}

var (
	noOrdinaryDay = i18n.New("Your lock does not survive an ordinary day: {why}")
	comeBack      = i18n.New("Let Lock, TryLock and Unlock come back.")
	stillListens  = i18n.New("Your lock still listens when every hold is over and the client is closed: it has not closed a subscription.")
)

// leftover is the verdict on a run whose goroutines did not end: they still stand
// where they stood.
func leftover(err error) *Cause {
	for _, g := range ofLock() {
		return leaking(g)
	}
	if hasPubSub() {
		return Because(KeepsOpen, endListening, stillListens.Args())
	}
	return Because(NoDay, comeBack, noOrdinaryDay.Args("why", err))
}

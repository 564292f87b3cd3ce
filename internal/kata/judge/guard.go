package judge

import (
	"encoding/json"
	"os"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// How long things may take on the wall clock. A scenario takes some milliseconds,
// so a lock that needs these is not slow but stuck, also on a busy machine.
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
	scenario time.Duration // the longest that a scenario may take
	longest  time.Duration // the longest that all may take
	over     atomic.Bool   // the scenario has ended, and what is left is winding down
	optional atomic.Bool   // what is required has been played

	mu      sync.Mutex
	during  string // what is being played; "" between two
	began   time.Time
	started time.Time
	judged  bool // there is a verdict already
}

func newGuard(out *os.File, task Task) *guard {
	return &guard{
		out: out, scenario: time.Duration(max(task.Patience, 1)) * scenarioLimit, longest: task.longest(), started: time.Now(),
	}
}

// enter begins a scenario.
func (g *guard) enter(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.during, g.began = what, time.Now()
	g.over.Store(false)
}

// leave ends it.
func (g *guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.during = ""
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
func (g *guard) convict(c Cause) {
	g.mu.Lock()
	c.During = g.during
	g.mu.Unlock()
	c.Optional = g.optional.Load()
	g.write(Line{Cause: &c})
	os.Exit(0)
}

// watch looks again and again whether the run still moves.
func (g *guard) watch() {
	for range time.Tick(guardPeriod) {
		g.mu.Lock()
		playing, began, judged := g.during != "", g.began, g.judged
		g.mu.Unlock()
		if playing && time.Since(began) > g.scenario {
			g.convict(diagnose(g.over.Load()))
		}
		late := time.Since(g.started) > g.longest
		if late && judged { // what has been found is enough to go on with
			g.write(Line{Done: true})
			os.Exit(0)
		}
		if late {
			g.convict(Cause{
				Kind: TooSlow, Text: "All that is asked takes longer than " + g.longest.String() + " with your lock.",
				Next: "Look for a loop that does much for nothing; or try again when the machine is less busy.",
			})
		}
		if heap() > memoryLimit {
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
func nearby() string {
	for _, g := range ofLock() {
		if g.inner.file != "" && g.isRunning() {
			return " at " + g.inner.place()
		}
	}
	return ""
}

// diagnose finds out why a scenario does not end: it looks at where the lock's
// goroutines stand.
func diagnose(over bool) Cause {
	if heap() > searchMemory { // what takes so long is to find more
		return Hoards(nearby())
	}
	all := ofLock()
	for _, g := range all {
		if g.isMutex() && g.inner.file != "" {
			return mutexHeld(g, inRedis(all))
		}
	}
	for _, g := range all {
		if g.isRunning() && g.inner.file != "" && !g.redis {
			if over && g.created.file != "" {
				return leaking(g)
			}
			return endless(g.inner)
		}
	}
	for _, g := range all {
		if g.created.file != "" {
			return leaking(g)
		}
	}
	for _, g := range all {
		if g.inner.file != "" {
			return stuck(g.inner.function, scenarioLimit.String(), g)
		}
	}
	return Cause{Kind: TooSlow, Text: "The run does not end, and no line of your lock is under way.", Next: "Try again; the machine may be busy."}
}

// inRedis is a goroutine of the lock that waits for Redis.
func inRedis(all []goroutine) *goroutine {
	for i := range all {
		if all[i].redis && all[i].inner.file != "" {
			return &all[i]
		}
	}
	return nil
}

// leftover is the verdict on a run whose goroutines did not end: they still stand
// where they stood.
func (r *run) leftover(err error) Cause {
	for _, g := range ofLock() {
		return leaking(g)
	}
	return Cause{Kind: NoDay, Text: "Your lock does not survive an ordinary day: " + err.Error(), Next: "Let Lock, TryLock and Unlock come back."}
}

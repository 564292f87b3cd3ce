// Package guard ends runs of a lock that do not come to rest, and says why.
package guard

import (
	"cmp"
	"errors"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Limits of a run. A failure is played in some milliseconds of a processor.
const (
	Processor = 2 * time.Second  // of the process's own processor time; of real time where the system does not tell it
	Again     = time.Second / 2  // the same, for a lock that has exceeded it before
	Wall      = 20 * time.Second // of real time
)

const (
	period      = 50 * time.Millisecond
	little      = period / 10 // of a processor, in a period in which the process rests
	MemoryLimit = 1 << 29     // of the heap; the system refuses twice as much
)

// Guard watches runs of a lock from outside their bubbles.
type Guard struct {
	Path  string        // the beginning of the import paths of the lock's code; "" for all that is not Go's, go-redis's or ours
	Limit time.Duration // of processor time for a run; a quarter of it without asking Redis
	Wall  time.Duration // of real time for a run; default [Wall]

	over atomic.Bool               // the scenario has ended, and its goroutines are stopping
	why  atomic.Pointer[Cause]     // it has ended early for this
	next atomic.Pointer[time.Time] // a run that has just begun
}

// Begin begins the next of several runs, and gives it the full time.
func (g *Guard) Begin() {
	now := time.Now()
	g.next.Store(&now)
}

// Over tells the guard that the scenario has ended: what still runs of the lock was left behind. If it has ended
// early, with err, that is the cause of what follows.
func (g *Guard) Over(err error) {
	if err != nil {
		g.why.Store(g.CauseOf(err))
	}
	g.over.Store(true)
}

// Run does run in a goroutine of its own and returns nil when that has ended. If it does not come to
// rest, or takes too much memory, Run returns why; the goroutine then still runs, and the process is of no
// further use.
func (g *Guard) Run(run func()) *Cause {
	g.over.Store(false)
	g.why.Store(nil)
	g.Begin()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var m meter
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		if begun := g.next.Swap(nil); begun != nil {
			m = newMeter(*begun)
		} else {
			m.read()
		}
		cause := g.look(m)
		select {
		case <-done: // in the meantime
			return nil
		default:
		}
		if cause != nil {
			return cause
		}
	}
}

// look returns why a run has to end now, or nil.
func (g *Guard) look(m meter) *Cause {
	wall := cmp.Or(g.Wall, Wall)
	isLate := m.used > g.Limit || m.wall > wall || m.resting > g.Limit
	switch {
	case isLate && g.why.Load() != nil:
		return g.why.Load()
	case heap() > MemoryLimit:
		return g.hoards()
	case m.silent > g.Limit/4 && g.loop() != nil:
		return g.loops()
	case m.resting > g.Limit && !isRunning():
		return g.waits()
	case m.used > g.Limit:
		return g.isSlow()
	case m.wall > wall:
		return CutOff(wall, m.used)
	}
	return nil
}

// meter measures a run.
type meter struct {
	begun    time.Time
	at       time.Duration // the processor time of the process when the run began
	sent     int64         // commands, up to the last reading
	used     time.Duration // processor time
	silent   time.Duration // the part of it since the last command
	resting  time.Duration // the number of periods in a row in which the process rested, times their length
	wall     time.Duration
	askedFor time.Duration // used at the last command
}

func newMeter(begun time.Time) meter {
	return meter{begun: begun, at: processorTime(), sent: world.Sent()}
}

func (m *meter) read() {
	before := m.used
	m.used, m.wall = processorTime()-m.at, time.Since(m.begun)
	if sent := world.Sent(); sent != m.sent {
		m.sent, m.askedFor = sent, m.used
	}
	m.silent = m.used - m.askedFor
	if m.used-before > little {
		m.resting = 0
	} else {
		m.resting += period
	}
}

// heap returns how many bytes are in use. Unlike other ways to ask it does not stop the world, which
// is not possible while a goroutine copies gigabytes.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// HeapIsLarge reports whether half of the memory limit is in use.
func HeapIsLarge() bool { return heap() > MemoryLimit/2 }

// isRunning reports whether any other goroutine of the process could run.
func isRunning() bool {
	text := world.Stacks()
	return strings.Contains(text, "[runnable") || strings.Count(text, "[running") > 1
}

// find returns a goroutine of the lock.
func (g *Guard) find(is func(world.Goroutine) bool) *world.Goroutine {
	all := world.Goroutines(g.Path)
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// loop returns a goroutine of the lock that is running, and not inside of go-redis.
func (g *Guard) loop() *world.Goroutine {
	return g.find(func(r world.Goroutine) bool { return runs(r) && !r.InRedis })
}

func waitsForMutex(r world.Goroutine) bool {
	return !r.Durable && r.Line != "" && (strings.HasPrefix(r.State, "sync.Mutex") || strings.HasPrefix(r.State, "sync.RWMutex"))
}

func runs(r world.Goroutine) bool {
	return r.Line != "" && (r.State == "running" || r.State == "runnable")
}

func (g *Guard) hoards() *Cause {
	if busy := g.find(runs); busy != nil {
		return Hoards(busy.Line)
	}
	return Hoards("")
}

func (g *Guard) loops() *Cause {
	loop := g.loop()
	switch {
	case loop == nil:
		return g.isSlow()
	case g.over.Load() && loop.Started != "":
		return leaking(*loop)
	}
	return Because(EndlessLoop, loopNext, loopsAt.Args("call", loop.Function, "line", loop.Line))
}

func (g *Guard) isSlow() *Cause {
	if HeapIsLarge() {
		return g.hoards()
	}
	return Because(TooSlow, slowNext, slow.Args("limit", g.Limit))
}

// waits returns why a run does not end in which nothing runs: the lock waits for something that is not in the bubble.
func (g *Guard) waits() *Cause {
	all := world.Goroutines(g.Path)
	is := func(state ...string) *world.Goroutine {
		return g.find(func(r world.Goroutine) bool {
			return !r.Durable && r.Line != "" && slices.ContainsFunc(state, func(s string) bool { return strings.HasPrefix(r.State, s) })
		})
	}
	withLibraries := world.Goroutines("")
	waiting := g.find(waitsForMutex)
	if i := slices.IndexFunc(withLibraries, waitsForMutex); waiting == nil && i >= 0 {
		waiting = &withLibraries[i]
	}
	if waiting != nil {
		return mutexHeld(*waiting, all, withLibraries)
	}
	if outside := is("IO wait", "syscall"); outside != nil {
		return Because(Outside, outsideNext, outsideAt.Args("call", outside.Function, "line", outside.Line))
	}
	call := g.find(func(r world.Goroutine) bool { return r.Line != "" })
	if world.IsInNetwork() && call != nil {
		return Because(Outside, outsideNext, outsideAt.Args("call", call.Function, "line", call.Line))
	}
	if channel := is("chan ", "select"); channel != nil {
		return Because(OldChannel, oldNext, oldChannel.Args("call", channel.Function, "line", channel.Line))
	}
	if own := g.find(func(r world.Goroutine) bool { return r.Started != "" && !r.Durable }); own != nil && g.over.Load() {
		return leaking(*own)
	}
	if call != nil {
		return stuck(*call)
	}
	return Because(TooSlow, tryAgain, noLineRuns.Args())
}

// CauseOf returns the cause of an error with which a run stopped; nil for no error.
func (g *Guard) CauseOf(err error) *Cause {
	var flood world.FloodError
	var missing world.MissingError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &flood):
		return Because(Floods, floodNext, floodsAt.Args("call", flood.Function, "line", flood.Line))
	case errors.As(err, &missing):
		return Because(Lacks, nextMethod, yourMethod.Args("method", missing.Method))
	case !errors.Is(err, world.ErrLeft):
		return Because(NoUse, comeBack, i18n.Text(strings.TrimPrefix(err.Error(), "world: ")).Args())
	}
	all := world.Goroutines(g.Path)
	for _, left := range all {
		if left.Started == "" && left.Line != "" { // a call of the lock
			return stuck(left)
		}
	}
	for _, left := range all {
		return leaking(left)
	}
	if world.HasSubscription() {
		return Because(KeepsOpen, endListening, stillListens.Args())
	}
	return Because(NoUse, comeBack, i18n.Text(err.Error()).Args())
}

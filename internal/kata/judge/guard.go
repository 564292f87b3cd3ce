package judge

import (
	"encoding/json"
	"errors"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

const (
	guardPeriod = 50 * time.Millisecond
	memoryLimit = 1 << 29 // the system refuses twice as much
)

// guard watches a run from outside its bubble. If the lock does not come to rest, or takes too much
// memory, it writes a reply with the line of the lock and ends the process.
type guard struct {
	out   string
	task  Task
	over  atomic.Bool  // the scenario has ended, and its goroutines are stopping
	looks atomic.Int64 // since the run began; a count, since a busy machine slows the run and the guard alike
	once  sync.Mutex   // never unlocked after the first reply
}

// begin begins the next of several runs, and gives it the full time.
func (g *guard) begin() { g.looks.Store(0) }

// watch checks at intervals that the run makes progress.
func (g *guard) watch() {
	for range time.Tick(guardPeriod) {
		if time.Duration(g.looks.Add(1))*guardPeriod > g.task.Limit || heap() > memoryLimit {
			g.reply(Reply{Cause: g.diagnose()})
			os.Exit(0)
		}
	}
}

// reply writes the reply; later calls block.
func (g *guard) reply(r Reply) {
	g.once.Lock()
	if r.Cause != nil { // another process has only the texts
		r.Cause.Text, r.Cause.Next = g.localize(r.Cause.Text), g.localize(r.Cause.Next)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		panic("judge: a reply is always JSON: " + err.Error())
	}
	if err := os.WriteFile(g.out, raw, 0o600); err != nil {
		panic("judge: " + err.Error())
	}
}

func (g *guard) localize(m i18n.Message) i18n.Message {
	return i18n.Text(m.Localize(g.task.Lang)).Args()
}

// heap returns how many bytes are in use. Unlike other ways to ask it does not stop the world, which
// is not possible while a goroutine copies gigabytes.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func isRunning(g world.Goroutine) bool { return g.State == "running" || g.State == "runnable" }

// diagnose returns why a run does not end, from the stacks of the lock's goroutines.
func (g *guard) diagnose() *Cause {
	all := world.Goroutines(g.task.Path)
	find := func(is func(world.Goroutine) bool) *world.Goroutine {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return &all[i]
		}
		return nil
	}
	waiting := find(func(r world.Goroutine) bool {
		return (strings.HasPrefix(r.State, "sync.Mutex") || strings.HasPrefix(r.State, "sync.RWMutex")) && r.Line != ""
	})
	loop := find(func(r world.Goroutine) bool { return isRunning(r) && r.Line != "" && !r.InRedis })
	channel := find(func(r world.Goroutine) bool {
		return !r.Durable && r.Line != "" && (strings.HasPrefix(r.State, "chan ") || r.State == "select")
	})
	own := find(func(r world.Goroutine) bool { return r.Started != "" })
	call := find(func(r world.Goroutine) bool { return r.Line != "" })
	busy := find(func(r world.Goroutine) bool { return isRunning(r) && r.Line != "" })
	switch {
	case heap() > searchMemory && busy != nil:
		return Hoards(busy.Line)
	case heap() > searchMemory:
		return Hoards("")
	case waiting != nil:
		return mutexHeld(*waiting, all)
	case loop != nil && g.over.Load() && loop.Started != "":
		return leaking(*loop)
	case loop != nil:
		return Because(EndlessLoop, loopNext, loopsAt.Args("call", loop.Function, "line", loop.Line))
	case channel != nil:
		return Because(OldChannel, oldNext, oldChannel.Args("call", channel.Function, "line", channel.Line))
	case own != nil:
		return leaking(*own)
	case call != nil:
		return stuck(*call)
	}
	return Because(TooSlow, tryAgain, noLineRuns.Args())
}

// causeOf returns the cause of an error with which a run stopped; nil for no error.
func (g *guard) causeOf(err error) *Cause {
	var flood world.FloodError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &flood):
		return Because(Floods, floodNext, floodsAt.Args("call", flood.Function, "line", flood.Line))
	case !errors.Is(err, world.ErrLeft):
		return Because(NoUse, comeBack, i18n.Text(strings.TrimPrefix(err.Error(), "world: ")).Args())
	}
	all := world.Goroutines(g.task.Path)
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

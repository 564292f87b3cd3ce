package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// Locker is a lock of one name as one owner uses it: what a scenario can do with
// any lock. Stages 1 to 5 are Lockers as they stand; other locks need an adapter.
type Locker interface {
	// Lock waits until the caller holds the lock. It returns an error when ctx is
	// done first, or when it gives up.
	Lock(ctx context.Context) error
	// TryLock makes one attempt; false and no error means that somebody else
	// holds the lock.
	TryLock(ctx context.Context) (bool, error)
	// Unlock frees the lock.
	Unlock(ctx context.Context) error
}

// ErrNothing is what Lock and TryLock of an adapter return where the lock itself returns neither a
// hold nor an error.
var ErrNothing = errors.New("the lock returns neither a hold nor an error")

// The interfaces below are what a Locker may have beyond that. Each method gets
// the context of a call; [Lane] tells whose it is.

// Fenced is a Locker that hands out a fencing token with each hold.
type Fenced interface {
	// Token is the token of the caller's hold, 0 while it holds nothing.
	Token(ctx context.Context) int64
}

// Noticing is a Locker that tells its holder when the hold is lost.
type Noticing interface {
	// Lost is closed when the caller's newest hold is lost, or ends otherwise;
	// isLost then tells which. It is nil while the caller holds nothing.
	Lost(ctx context.Context) (ended <-chan struct{}, isLost func() bool)
}

// Counting is a re-entrant Locker.
type Counting interface {
	// HoldCount is how often the caller holds the lock, as Redis has it.
	HoldCount(ctx context.Context) (int, error)
}

// Forcing is a Locker that an administrator can free from outside.
type Forcing interface {
	// ForceUnlock frees the lock whoever holds it, and tells whether anybody did.
	ForceUnlock(ctx context.Context) (bool, error)
}

// Constructor makes one owner's lock. What it sends, arrives at once.
type Constructor func(rdb redis.UniversalClient, name string, lease time.Duration) (Locker, error)

// ConstructorOver makes one owner's lock of several servers, in the order of their names. The
// source is the client's own, and the same in each run.
type ConstructorOver func(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (Locker, error)

// AttributeTo tells whether a command is a call's, and which client's.
type AttributeTo func(args []string) (client string, is bool)

// Config is what a world starts with.
type Config struct {
	New     Constructor
	NewOver ConstructorOver       // in place of New, for a lock of several servers
	Servers int                   // default 1
	Lock    string                // the lock's name; default DefaultLock
	Lease   time.Duration         // default 30 s
	Guard   Guard                 // of the ledger
	Client  func(*redis.Options)  // changes the go-redis options of every client
	Scripts []string              // Lua scripts that Redis already knows
	Ignore  func(key string) bool // keys that are no locks: a counter, a queue
	// AttributeTo tells which commands a goroutine of the lock's own sends on behalf of a
	// call that is under way, such as one for each Redis to ask, and of which client;
	// "" is whichever calls. Without it, whatever such a goroutine sends is the lock's
	// own business, as a renewal is.
	AttributeTo AttributeTo
	// SkipFrames are the beginnings of the names of functions that only pass on what
	// the lock sends: a driver, a hook. The line that sent a command is above them.
	SkipFrames []string
}

// DefaultLock is the name of the lock if the config names none.
const DefaultLock = "order:1001"

func (c Config) withDefaults() Config {
	c.Servers, c.Lock, c.Lease = max(c.Servers, 1), cmp.Or(c.Lock, DefaultLock), cmp.Or(c.Lease, 30*time.Second)
	return c
}

// World is one run. All its methods belong to the scenario's own goroutine.
type World struct {
	*Node // the first server, and the only one if the config asks for no more
	Lock  string
	Lease time.Duration
	// LongSilence is a time after which nothing that a lock does by itself is under way
	// any more.
	LongSilence time.Duration

	config    Config
	nodes     []*Node
	clock     Clock
	names     *names
	ledger    *Ledger
	trace     *Trace
	start     time.Time
	reached   time.Duration // how far the scenario has let things happen
	processes []*process
	calls     []*Call
	staged    []*request        // written, not yet on their wires
	requests  int               // how many there have been
	replies   int               // how many replies and pushes there have been
	seen      map[string]digest // process → what it has seen; nil: nobody asks
	foreign   digest            // what was done to keys of others
	ctx       context.Context
	cancel    context.CancelFunc
	closing   bool // the scenario is over: nothing is recorded, no fault strikes
	leaveAt   int  // after how many events the scenario is left; 0: it is played to its end
	flooded   bool // a client has sent commands without a pause

	shared // what clients' goroutines touch
}

// Run plays a scenario in a bubble of its own and returns what happened. The
// error is not nil when the scenario could not be played: it panicked, the lock
// could not be made, or goroutines of the lock were left when all was over.
func Run(t *testing.T, config Config, scenario func(*World)) (trace *Trace, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("world: %w: %s", ErrLeft, strings.Join(StackDump(), ", "))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		deepen()
		var servers []Redis
		for range max(config.Servers, 1) {
			server, startErr := newEmbedded()
			if startErr != nil {
				err = fmt.Errorf("world: embedded Redis: %w", startErr)
				return
			}
			servers = append(servers, server)
		}
		trace, err = runOn(servers, bubbleTime{}, config, scenario)
	})
	return trace, err
}

// RunOn is [Run] with a server, which it closes, and a clock of the caller's. It does not look for
// goroutines that are left.
func RunOn(server Redis, clock Clock, config Config, scenario func(*World)) (*Trace, error) {
	return runOn([]Redis{server}, clock, config, scenario)
}

func runOn(servers []Redis, clock Clock, config Config, scenario func(*World)) (*Trace, error) {
	w, err := newWorld(config.withDefaults(), servers, clock)
	if err != nil {
		for _, server := range servers {
			server.Close()
		}
		return nil, err
	}
	defer w.close() // also when the scenario ends its test
	return w.trace, w.play(scenario)
}

// Discover plays a lock's normal use once, and returns what happened and the Lua scripts that it
// used. A world that starts with those has no first EVALSHA that Redis does not know.
func Discover(t *testing.T, config Config) (trace *Trace, scripts []string, err error) {
	trace, err = Run(t, config, func(w *World) { scripts = NormalUse(w) })
	return trace, scripts, err
}

// NormalUse plays what a lock can do: a renewal, a refusal, a wait that its context ends. It
// returns the Lua scripts that the lock used.
func NormalUse(w *World) (scripts []string) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock(Within(w.Lease))
	b.TryLock(Within(w.Lease))
	wait := b.StartLock(Within(w.Lease / 10))
	if _, reentrant := a.process.locker.(Counting); reentrant {
		a.Lock(Within(w.Lease))
		a.Unlock(Within(w.Lease))
	}
	w.Sleep(w.Lease / 2)
	a.Unlock(Within(w.Lease))
	a.Unlock(Within(w.Lease))
	if wait.Wait().Held() { // it waits on when its context has ended
		b.Unlock(Within(w.Lease))
	}
	if _, forcing := a.process.locker.(Forcing); forcing {
		a.ForceUnlock()
	}
	return w.keys.scripts
}

func newWorld(config Config, servers []Redis, clock Clock) (*World, error) {
	names := newNames(config.Lock)
	limits := clock.Limits(config.Lease)
	w := &World{
		Lock: config.Lock, Lease: config.Lease, LongSilence: limits.LongSilence,
		config: config, clock: clock, names: names,
		ledger: &Ledger{guard: config.Guard, open: map[string][]Order{}, read: map[string]int{}},
		trace:  &Trace{Lock: config.Lock, Lease: config.Lease, Slack: limits.Slack, Fenced: config.Guard == TokenGuard},
		start:  time.Now(),
		shared: shared{wake: make(chan struct{}, 1)},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	for i, server := range servers {
		n := &Node{world: w, index: i, server: server, keys: newKeyspace(server, names, config.Ignore, limits.Blur)}
		if names.several = len(servers) > 1; names.several {
			n.Name = "R" + strconv.Itoa(i+1)
			w.trace.Servers = append(w.trace.Servers, n.Name)
		}
		w.nodes = append(w.nodes, n)
		for _, source := range config.Scripts {
			if err := n.keys.load(source); err != nil {
				return nil, fmt.Errorf("world: Redis does not take a script: %w", err)
			}
		}
	}
	w.Node = w.nodes[0]
	return w, nil
}

// scenarioError ends a scenario that cannot go on.
type scenarioError struct{ error }

func (w *World) play(scenario func(*World)) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case scenarioError:
			err = p.error
		default:
			err = fmt.Errorf("world: the scenario panicked: %v\n%s", p, debug.Stack())
		}
	}()
	scenario(w)
	w.settle()
	w.trace.Missed = w.missed()
	return nil
}

// fail ends the scenario: what it asks for makes no sense.
func fail(format string, args ...any) {
	panic(scenarioError{fmt.Errorf("world: "+format, args...)})
}

// Now is the fake time since the world began, in whole microseconds.
func (w *World) Now() time.Duration { return time.Since(w.start).Truncate(time.Microsecond) }

// horizon is how long a scenario waits for a call.
func (w *World) horizon() time.Duration { return 10 * w.Lease }

// record adds an event to the trace.
func (w *World) record(e Event) {
	if w.closing {
		return
	}
	e.Step = len(w.trace.Events) + 1
	e.At = w.Now()
	if w.seen != nil {
		w.observe(e)
	}
	if w.trace.Events == nil {
		w.trace.Events = make([]Event, 0, 32) // enough for a short run
	}
	w.trace.Events = append(w.trace.Events, e)
}

// close lets everything end: faults are lifted, contexts cancelled, keys gone,
// clients closed. What still runs after two leases is stuck, and the bubble says
// so when it ends.
func (w *World) close() {
	w.mu.Lock()
	w.late(w.slow)
	w.mu.Unlock()
	w.closing = true
	for _, p := range w.processes {
		p.faults = nil
		w.release(p)
	}
	w.cancel()
	if !w.flooded {
		w.settle() // what is on its way may still take the lock
	}
	w.clear()
	w.until(time.Now().Add(2*w.Lease), func() bool { return w.trace.Slack > 0 && !w.isCalling() })
	for _, p := range w.processes {
		if closer, ok := p.locker.(io.Closer); ok {
			go closer.Close() // the lock has goroutines beyond its holds
		}
	}
	w.clock.Linger(w.Lease, w.pass)
	for _, p := range w.processes {
		for _, rdb := range p.rdbs {
			_ = rdb.Close() // the lock may have closed it already
		}
	}
	w.clock.Linger(w.Lease, w.pass)
	for wire := range w.wires {
		wire.unsubscribe()
		wire.link.Close()
	}
	w.clear()
	for _, n := range w.nodes {
		n.server.Close()
	}
	if w.wasCrowded() {
		forgetTimers()
	}
}

// clear removes the keys of every server.
func (w *World) clear() {
	for _, n := range w.nodes {
		n.server.Clear()
	}
}

// isCalling reports whether a call has not yet come back.
func (w *World) isCalling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.processes, func(p *process) bool { return len(p.running) > 0 })
}

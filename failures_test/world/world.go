package world

import (
	"cmp"
	"context"
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

	"lockkata/failures_test/trace"
)

// Locker is the lock with one name, as used by one process. Stages 1 to 5 implement it; other locks
// need an adapter.
type Locker interface {
	// Lock waits until the caller holds the lock. It returns an error when ctx is done first, or
	// when it gives up.
	Lock(ctx context.Context) error
	// TryLock makes one attempt. It returns false and no error if another client holds the lock.
	TryLock(ctx context.Context) (bool, error)
	// Unlock frees the lock.
	Unlock(ctx context.Context) error
}

// A Locker may implement the interfaces below too. Each method gets the context of a call; [Lane]
// returns the client of that call.

// Fenced is a Locker that hands out a fencing token with each hold.
type Fenced interface {
	// Token returns the token of the caller's hold; 0 while it holds nothing.
	Token(ctx context.Context) int64
}

// Noticing is a Locker that reports to its holder when the hold is lost.
type Noticing interface {
	// Lost returns a channel that is closed when the caller's newest hold ends; isLost then reports
	// whether it was lost. The channel is nil while the caller holds nothing.
	Lost(ctx context.Context) (ended <-chan struct{}, isLost func() bool)
}

// Counting is a re-entrant Locker.
type Counting interface {
	// HoldCount returns how often the caller holds the lock according to Redis.
	HoldCount(ctx context.Context) (int, error)
}

// Forcing is a Locker that an administrator can free from outside.
type Forcing interface {
	// ForceUnlock frees the lock, even another client's, and reports whether it was held.
	ForceUnlock(ctx context.Context) (bool, error)
}

// Constructor returns the lock of one process. Commands that it sends are executed immediately.
type Constructor func(rdb redis.UniversalClient, name string, lease time.Duration) (Locker, error)

// ConstructorOver returns the lock of one process on several servers, in the order of their names.
// Each process has its own random source, which is the same in each run.
type ConstructorOver func(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (Locker, error)

// AttributeTo reports whether a command belongs to a call, and to which client's; "" means any
// client.
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
	Ignore  func(key string) bool // keys that are not locks: a counter, a queue
	// AttributeTo attributes commands of goroutines started by the lock to calls under way, such as
	// goroutines that each ask one Redis. Without it those commands are background, as renewals
	// are.
	AttributeTo AttributeTo
	// SkipFrames has the prefixes of functions that only pass on the lock's commands, such as a
	// driver or a hook. The line of the lock is above them on the stack.
	SkipFrames []string
}

// DefaultLock is the name of the lock if the config names none.
const DefaultLock = "order:1001"

func (c Config) withDefaults() Config {
	c.Servers, c.Lock, c.Lease = max(c.Servers, 1), cmp.Or(c.Lock, DefaultLock), cmp.Or(c.Lease, 30*time.Second)
	return c
}

// World is one run. Call its methods in the scenario's goroutine only.
type World struct {
	*Node // the first server, by default the only one
	Lock  string
	Lease time.Duration
	// LongSilence is the time after which the lock's own goroutines have finished what they did.
	LongSilence time.Duration

	config    Config
	nodes     []*Node
	clock     Clock
	names     *names
	ledger    *Ledger
	trace     *trace.Trace
	start     time.Time
	reached   time.Duration // the time up to which delayed messages arrive
	processes []*process
	calls     []*Call
	staged    []*request        // written, not yet on their wires
	requests  int               // their number so far
	replies   int               // the number of replies and pushes so far
	seen      map[string]digest // process → hash of what it has seen; nil: not recorded
	foreign   digest            // hash of the changes of other processes' keys
	ctx       context.Context
	cancel    context.CancelFunc
	closing   bool // the scenario has ended: no recording, no faults
	leaveAt   int  // the number of events after which Begin stops the scenario; 0: never
	flooded   bool // a client has sent commands without a pause

	shared // with the clients' goroutines
}

// Run plays a scenario in a new bubble and returns its trace. It returns an error if the scenario
// panicked, the lock could not be constructed, or goroutines of the lock did not end ([ErrLeft]).
func Run(t *testing.T, config Config, scenario func(*World)) (tr *trace.Trace, err error) {
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
		tr, err = RunOn(servers, bubbleTime{}, config, scenario)
	})
	return tr, err
}

// RunOn is [Run] with other servers, which it closes, and another clock. It does not look for
// goroutines that did not end.
func RunOn(servers []Redis, clock Clock, config Config, scenario func(*World)) (*trace.Trace, error) {
	w, err := newWorld(config.withDefaults(), servers, clock)
	if err != nil {
		for _, server := range servers {
			server.Close()
		}
		return nil, err
	}
	defer w.close() // also if the scenario calls t.FailNow
	return w.trace, w.play(scenario)
}

// Discover plays a lock's normal use once and returns its trace and the Lua scripts that the lock
// used. In a world that starts with these scripts, no EVALSHA fails because Redis does not know the
// script.
func Discover(t *testing.T, config Config) (tr *trace.Trace, scripts []string, err error) {
	tr, err = Run(t, config, func(w *World) { scripts = NormalUse(w) })
	return tr, scripts, err
}

// NormalUse plays a renewal, a refusal and a wait that times out, and re-entry and ForceUnlock if
// the lock has them. It returns the Lua scripts that the lock used.
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
	if wait.Wait().Held() { // it did not stop when its context ended
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
		ledger: &Ledger{guard: config.Guard, open: map[string][]trace.Order{}, read: map[string]int{}},
		trace:  &trace.Trace{Lock: config.Lock, Lease: config.Lease, Slack: limits.Slack, Fenced: config.Guard == TokenGuard, Others: map[string]string{}},
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
			n.keys.learnScript(source)
			if err := server.LoadScript(source); err != nil {
				return nil, fmt.Errorf("world: Redis rejects a script: %w", err)
			}
		}
	}
	w.Node = w.nodes[0]
	return w, nil
}

// scenarioError is the panic value that ends a scenario with an error.
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

// fail ends the scenario with an error.
func fail(format string, args ...any) {
	panic(scenarioError{fmt.Errorf("world: "+format, args...)})
}

// Now returns the time since the world began, in whole microseconds.
func (w *World) Now() time.Duration { return time.Since(w.start).Truncate(time.Microsecond) }

// horizon returns how long a scenario waits for a call.
func (w *World) horizon() time.Duration { return 10 * w.Lease }

// record adds an event to the trace.
func (w *World) record(e trace.Event) {
	if w.closing {
		return
	}
	e.Step = len(w.trace.Events) + 1
	e.At = w.Now()
	if w.seen != nil {
		w.observe(e)
	}
	if w.trace.Events == nil {
		w.trace.Events = make([]trace.Event, 0, 32) // enough for a short run
	}
	w.trace.Events = append(w.trace.Events, e)
}

// close ends faults, contexts, keys and clients, so that all goroutines can end. Goroutines that
// still run after two leases are stuck: the bubble reports them.
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
		w.settle() // requests under way may still take the lock
	}
	w.clear()
	w.until(time.Now().Add(2*w.Lease), func() bool { return w.trace.Slack > 0 && !w.isCalling() })
	for _, p := range w.processes {
		if closer, ok := p.locker.(io.Closer); ok {
			go closer.Close() // the lock may have goroutines without a hold
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
		ForgetTimers()
	}
}

// clear removes the keys of every server.
func (w *World) clear() {
	for _, n := range w.nodes {
		n.server.Clear()
	}
}

// isCalling reports whether a call has not yet returned.
func (w *World) isCalling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.processes, func(p *process) bool { return len(p.running) > 0 })
}

package world

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockkata/failures_test/trace"
)

// Run plays a scenario in a new bubble and returns its trace. It returns an error if the scenario
// panicked, the lock could not be constructed, or goroutines of the lock did not end ([ErrLeft]).
func Run(t *testing.T, config Config, scenario func(*World)) (tr *trace.Trace, err error) {
	defer func() {
		if p := recover(); p != nil && err == nil { // the error of a scenario that ended early says more
			err = fmt.Errorf("world: %w: %s", ErrLeft, strings.Join(StackDump(), ", "))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		var w *World
		if w, err = newEmbeddedWorld(config); err == nil {
			defer w.close() // also if the scenario calls t.FailNow
			tr, err = w.trace, w.play(scenario)
		}
	})
	return tr, err
}

// newEmbeddedWorld returns a world on embedded servers in the bubble.
func newEmbeddedWorld(config Config) (*World, error) {
	var servers []Redis
	for range max(config.Servers, 1) {
		server, err := newEmbedded()
		if err != nil {
			return nil, fmt.Errorf("world: embedded Redis: %w", err)
		}
		servers = append(servers, server)
	}
	return newWorld(config.withDefaults(), servers, bubbleTime{})
}

// RunOn is [Run] with other servers, which it closes, and another clock. It does not look for
// goroutines that did not end.
func RunOn(servers []Redis, clock Clock, config Config, scenario func(*World)) (*trace.Trace, error) {
	w, err := newWorld(config.withDefaults(), servers, clock)
	if err != nil {
		return nil, err
	}
	defer w.close() // also if the scenario calls t.FailNow
	return w.trace, w.play(scenario)
}

// Discover plays a lock's normal use once and returns its trace and the Lua scripts that the lock
// used. In a world that starts with these scripts, no EVALSHA fails because Redis does not know the
// script. A single server has two replicas, for a lock that sends WAIT.
func Discover(t *testing.T, config Config) (tr *trace.Trace, scripts []string, err error) {
	if config.Servers <= 1 {
		config.Replicas = 2
	}
	tr, err = Run(t, config, func(w *World) { scripts = NormalUse(w) })
	return tr, scripts, err
}

// NormalUse plays a renewal, a refusal and a wait that times out, and re-entry and ForceUnlock if
// the lock has them. It returns the Lua scripts that the lock used.
func NormalUse(w *World) (scripts []string) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock(Within(w.Lease))
	b.TryLock(Within(w.Lease))
	wait := b.StartLock(Within(w.Lease * 2 / 5)) // a lock may look every third of a lease, in a script of its own
	if _, reentrant := a.locker.(Counting); reentrant {
		a.Lock(Within(w.Lease))
		a.Unlock(Within(w.Lease))
	}
	w.Sleep(w.Lease / 2)
	a.Unlock(Within(w.Lease))
	a.Unlock(Within(w.Lease))
	if wait.Wait().Held() { // it did not stop when its context ended
		b.Unlock(Within(w.Lease))
	}
	if _, forcing := a.locker.(Forcing); forcing {
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
		ledger: &Ledger{guard: config.Guard, pieces: config.Pieces, open: map[string][]trace.Order{}, read: map[string]int{}},
		trace:  &trace.Trace{Lock: config.Lock, Lease: config.Lease, Slack: limits.Slack, Fenced: config.Guard == TokenGuard, OtherLocks: map[string][]string{}},
		start:  time.Now(),
		wake:   make(chan struct{}, 1),
		asked:  make(chan func()),
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
				for _, each := range servers {
					each.Close()
				}
				return nil, fmt.Errorf("world: Redis rejects a script: %w", err)
			}
		}
	}
	w.Node = w.nodes[0]
	w.replicate(config.Replicas)
	return w, nil
}

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

// close ends faults, contexts, keys and clients, so that all goroutines can end. Goroutines that
// still run after two leases are stuck: the bubble reports them.
func (w *World) close() {
	w.mu.Lock()
	w.late(w.slow)
	w.mu.Unlock()
	w.closing = true
	for _, p := range w.processes {
		p.release()
	}
	w.cancel()
	if w.flood == nil {
		w.settle() // requests under way may still take the lock
	}
	w.clear()
	w.until(time.Now().Add(2*w.Lease), func() bool { return w.trace.Slack > 0 && !w.isCalling() })
	for _, p := range w.processes {
		for _, locker := range p.lockers {
			if closer, ok := locker.(io.Closer); ok {
				go closer.Close() // the lock may have goroutines without a hold
			}
		}
	}
	w.clock.Linger(w.Lease, w.pass)
	for _, p := range w.processes {
		if p.driver != nil {
			_ = p.driver.Close() // the lock may have closed it already
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
	if slices.ContainsFunc(w.processes, (*Process).wasCrowded) {
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
	return slices.ContainsFunc(w.processes, func(p *Process) bool { return len(p.running) > 0 })
}

func (p *Process) wasCrowded() bool { return p.driver != nil && p.driver.WasCrowded() }

// ForgetTimers empties the sync.Pool in which go-redis keeps timers for waiting on a full pool: a
// timer of this bubble would panic in the next one. It takes two collections to empty a sync.Pool.
func ForgetTimers() {
	runtime.GC()
	runtime.GC()
}

// Begin plays a scenario until it has produced that many events, and returns. The caller then
// decides what happens next. Faults that have not struck by then never do. The same scenario with
// the same lock stops at the same event.
func (w *World) Begin(scenario func(*World), events int) {
	w.leaveAt = events
	defer func() {
		w.leaveAt = 0
		for _, f := range w.faults {
			f.End()
		}
		if p := recover(); p != nil && p != (takenOver{}) {
			panic(p)
		}
	}()
	scenario(w)
	w.settle()
}

// Patient sets the read timeout of all drivers to d. The drivers have to be idle.
func (w *World) Patient(d time.Duration) {
	for _, p := range w.processes {
		if p.driver != nil {
			p.driver.SetReadTimeout(d)
		}
	}
}

package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Call is one operation of a client, under way or over.
type Call struct {
	ID     int
	Client *Client
	Op     string

	bound  time.Duration
	alone  bool // no other call of its process was under way, and it has done nothing yet
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	result Result
	answer string // of the ledger
	isLost bool   // its hold has ended, and is lost
	over   bool
}

// Held tells whether the call is over and gave its caller the lock.
func (c *Call) Held() bool { return c.over && c.result.Held }

// Over tells whether the call has come back.
func (c *Call) Over() bool { return c.over }

// Answer is what the ledger said.
func (c *Call) Answer() string { return c.answer }

// Option changes a call.
type Option func(*Call)

// Within gives the call's context a deadline.
func Within(d time.Duration) Option {
	return func(c *Call) {
		c.cancel()
		c.bound = d
		c.ctx, c.cancel = context.WithTimeout(context.WithValue(c.Client.context(), callKey{}, c), d)
	}
}

// Done gives the call a context that is already cancelled.
func Done() Option { return func(c *Call) { c.cancel() } }

// begin starts a call on a goroutine of its own.
func (c *Client) begin(op string, options []Option, do action) *Call {
	call := c.newCall(op, options)
	done := call.ctx.Err() != nil // see [Done]
	c.world.recordCall(Called, call, Event{Bound: call.bound, CtxDone: done})
	if IsAcquire(op) && done {
		c.world.recordCall(Cancelled, call, Event{})
	}
	call.began = time.Now()
	go call.run(do)
	return call
}

// action is what a call does. Without an error it says in its result what it did.
type action func(context.Context) (Result, error)

type laneKey struct{}

// Lane tells on whose behalf a lock is called: the name of the client whose call
// has this context, or one made from it.
func Lane(ctx context.Context) string {
	name, _ := ctx.Value(laneKey{}).(string)
	return name
}

// context is what each of the client's calls gets, or makes its own from.
func (c *Client) context() context.Context {
	return context.WithValue(c.world.ctx, laneKey{}, c.Name)
}

type callKey struct{}

// Delegate has a goroutine work for the call with this context: what it sends, the call sends. A
// lock that calls its caller back needs that, since its acquire and its release are one function,
// and a client's Lock and Unlock are two calls.
func Delegate(ctx context.Context, goroutine uint64) {
	call, ok := ctx.Value(callKey{}).(*Call)
	if !ok { // no client of a world calls
		return
	}
	w, p := call.Client.world, call.Client.process
	w.mu.Lock()
	defer w.mu.Unlock()
	p.delegates[goroutine] = call
}

// callEntry is where the goroutine of every call begins.
var callEntry atomic.Uintptr

// run is the goroutine of a call.
func (c *Call) run(do action) {
	noteEntry(&callEntry)
	deepen()
	w, p, id := c.Client.world, c.Client.process, GoroutineID()
	w.mu.Lock()
	p.running[id] = c
	c.alone = len(p.running) == 1 && !p.cut
	w.mu.Unlock()
	result := runGuarded(c, do)
	w.mu.Lock()
	c.act()
	delete(p.running, id)
	c.result = result
	w.finished = append(w.finished, c)
	w.mu.Unlock()
	notify(w.wake)
}

func (c *Client) newCall(op string, options []Option) *Call {
	w := c.world
	call := &Call{ID: len(w.calls) + 1, Client: c, Op: op}
	call.ctx, call.cancel = context.WithCancel(context.WithValue(c.context(), callKey{}, call))
	for _, option := range options {
		option(call)
	}
	w.calls = append(w.calls, call)
	return call
}

// runGuarded runs a call of somebody's lock and turns what comes out into a
// result, also a panic.
func runGuarded(call *Call, do action) (result Result) {
	defer func() {
		if p := recover(); p != nil {
			result = Result{Error: fmt.Sprintf("panic: %v", p), Claim: ClaimPanic}
		}
	}()
	result, err := do(call.ctx)
	switch {
	case err != nil && result.Held && call.Op == OpTryLock:
		return Result{Error: err.Error(), Err: err, Claim: ClaimBoth}
	case err != nil:
		return Result{Error: err.Error(), Err: err, Claim: claimOf(err)}
	case result.Held:
		result.Claim = ClaimDone
	case result.Claim == "":
		result.Claim = ClaimRefused
	}
	return result
}

// claimOf reads an error as a claim. An error of the context, the network or
// Redis says nothing about what became of the command; any other error is the
// lock's own word that it does not, or does not any more, hold the lock.
func claimOf(err error) Claim {
	var network net.Error
	var protocol redis.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, redis.ErrClosed) ||
		errors.As(err, &network) || errors.As(err, &protocol) {
		return ClaimUnknown
	}
	return ClaimRefused
}

// Wait lets the world go on until the call is over. It gives up when the process
// is stopped, since then only the scenario can go on, and at the horizon.
func (c *Call) Wait() *Call {
	w, p := c.Client.world, c.Client.process
	if !w.until(time.Now().Add(w.horizon()), func() bool { return c.over || p.isStopped() || c.inFlight() }) {
		w.recordCall(Blocked, c, Event{Bound: w.horizon()})
	}
	return c
}

// inFlight tells whether a write to the ledger is delayed: nothing waits for it.
func (c *Call) inFlight() bool {
	if !IsStore(c.Op) {
		return false
	}
	for _, wire := range c.Client.process.wires {
		for _, r := range wire.requests {
			if r.call == c && r.due > c.Client.world.Now() {
				return true
			}
		}
	}
	return false
}

// Cancel cancels the call's context.
func (c *Call) Cancel() {
	c.leave()
	c.Client.world.settle()
}

func (c *Call) leave() {
	c.Client.world.recordCall(Cancelled, c, Event{})
	c.cancel()
}

// recordCall records an event about a call.
func (w *World) recordCall(kind Kind, c *Call, e Event) {
	e.Kind, e.Client, e.Process, e.Call, e.Op = kind, c.Client.Name, c.Client.process.name, c.ID, c.Op
	w.record(e)
}

package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/trace"
)

// Call is one operation of a client, such as a Lock. It may still be under way.
type Call struct {
	ID     int
	Client *Client
	Op     string

	bound  time.Duration
	alone  bool // the only call of its process, and it has sent nothing yet
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	result trace.Result
	write  *request // to the ledger
	answer string   // of the ledger
	isLost bool     // the lock was lost: it ended before Unlock
	over   bool
	ended  <-chan struct{}
}

// Held reports whether the call has returned and its caller holds the lock.
func (c *Call) Held() bool { return c.over && c.result.Held }

// Over reports whether the call has returned.
func (c *Call) Over() bool { return c.over }

// Ended returns a channel that is closed when the hold of the call ends. It is nil if the lock does not report that.
func (c *Call) Ended() <-chan struct{} { return c.ended }

// Answer returns the ledger's answer.
func (c *Call) Answer() string { return c.answer }

// Option changes a call.
type Option func(*Call)

// Within gives the call's context a deadline.
func Within(d time.Duration) Option {
	return func(c *Call) {
		c.cancel()
		c.bound = d
		c.ctx, c.cancel = context.WithTimeout(context.WithValue(c.Client.world.ctx, callKey{}, c), d)
	}
}

// Done gives the call a context that is already cancelled.
func Done() Option { return func(c *Call) { c.cancel() } }

// begin starts a call in a new goroutine.
func (c *Client) begin(op string, options []Option, do action) *Call {
	call := c.newCall(op, options)
	done := call.ctx.Err() != nil // see [Done]
	c.world.recordCall(trace.Called, call, trace.Event{Bound: call.bound, CtxDone: done})
	if trace.IsAcquire(op) && done {
		c.world.recordCall(trace.Cancelled, call, trace.Event{})
	}
	call.began = time.Now()
	go call.run(do)
	return call
}

// action performs a call. Without an error, its result describes the effect.
type action func(context.Context) (trace.Result, error)

type callKey struct{}

// Lane returns the name of the client whose call has this context, or one derived from it.
func Lane(ctx context.Context) string {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call.Client.Name
	}
	return ""
}

// Delegate attributes the commands that a goroutine sends to the call with this context. A lock
// with a callback API needs it: there, acquire and release are one function in one goroutine, and
// the client's Lock and Unlock are two calls.
func Delegate(ctx context.Context, goroutine uint64) {
	call, ok := ctx.Value(callKey{}).(*Call)
	if !ok { // the caller is not a client of a world
		return
	}
	w, p := call.Client.world, call.Client.process
	w.mu.Lock()
	defer w.mu.Unlock()
	p.delegates[goroutine] = call
}

// callEntry is the entry point of the function in which the goroutine of each call begins.
var callEntry = reflect.ValueOf((*Call).run).Pointer()

// run executes the call, in its own goroutine.
func (c *Call) run(do action) {
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
	call.ctx, call.cancel = context.WithCancel(context.WithValue(w.ctx, callKey{}, call))
	for _, option := range options {
		option(call)
	}
	w.calls = append(w.calls, call)
	return call
}

// runGuarded runs a call of the lock and returns its result. A panic becomes a result too.
func runGuarded(call *Call, do action) (result trace.Result) {
	defer func() {
		if p := recover(); p != nil {
			result = trace.Result{Error: fmt.Sprintf("panic: %v", p), Claim: trace.ClaimPanic}
		}
	}()
	result, err := do(call.ctx)
	switch {
	case err != nil && result.Held && call.Op == trace.OpTryLock:
		return trace.Result{Error: err.Error(), Err: err, Claim: trace.ClaimBoth}
	case err != nil:
		return trace.Result{Error: err.Error(), Err: err, Claim: claimOf(err)}
	case result.Held:
		result.Claim = trace.ClaimDone
	case result.Claim == "":
		result.Claim = trace.ClaimRefused
	}
	return result
}

// claimOf classifies an error. After an error of the context, the network or Redis, the command may
// or may not have taken effect. Any other error is the lock's statement that the caller does not
// hold it.
func claimOf(err error) trace.Claim {
	var network net.Error
	var protocol redis.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, redis.ErrClosed) ||
		errors.As(err, &network) || errors.As(err, &protocol) {
		return trace.ClaimUnknown
	}
	return trace.ClaimRefused
}

// Wait runs the world until the call has returned. It gives up at the horizon, and when the process
// is stopped, because then only the scenario can continue.
func (c *Call) Wait() *Call {
	w, p := c.Client.world, c.Client.process
	if !w.until(time.Now().Add(w.horizon()), func() bool { return c.over || p.isStopped() || c.inFlight() }) {
		w.recordCall(trace.Blocked, c, trace.Event{Bound: w.horizon()})
	}
	return c
}

// inFlight reports whether the call is a write to the ledger that is delayed. Wait does not wait
// for it.
func (c *Call) inFlight() bool { return c.write != nil && c.write.due > c.Client.world.Now() }

// Cancel cancels the call's context.
func (c *Call) Cancel() {
	c.leave()
	c.Client.world.settle()
}

func (c *Call) leave() {
	c.Client.world.recordCall(trace.Cancelled, c, trace.Event{})
	c.cancel()
}

func (w *World) recordCall(kind trace.Kind, c *Call, e trace.Event) {
	e.Kind, e.Client, e.Process, e.Call, e.Op = kind, c.Client.Name, c.Client.process.name, c.ID, c.Op
	w.record(e)
}

package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"time"

	"lockkata/failures_test/trace"
)

// CallFunc performs a call, with the call's context. Without an error, its result describes the effect: whether an
// acquire got the lock (Held), or that another call has done its work (Claim).
type CallFunc func(context.Context) (trace.Result, error)

type callKey struct{}

// ClientName returns the name of the client whose call has this context, or one derived from it; "" if
// the context is of no call.
func ClientName(ctx context.Context) string {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call.Client.Name
	}
	return ""
}

// WithClientName returns a context that [ClientName] takes for one of that client's calls, for a lock outside of a
// world.
func WithClientName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callKey{}, &Call{Client: &Client{Name: name}})
}

// callEntry is the entry point of the function in which the goroutine of each call begins.
var callEntry = reflect.ValueOf((*Call).run).Pointer()

// run executes the call, in its own goroutine.
func (c *Call) run(do CallFunc) {
	w, p, id := c.Client.world, c.Client.process, goroutineID()
	w.mu.Lock()
	p.running[id] = c
	c.alone = len(p.running) == 1 && !p.cut && p.holds == 0
	w.mu.Unlock()
	result := runGuarded(c, do)
	w.mu.Lock()
	c.act()
	delete(p.running, id)
	switch c.result = result; {
	case trace.IsAcquire(c.Op) && result.Held:
		p.holds++
	case c.Op == trace.OpUnlock:
		p.holds = max(0, p.holds-1)
	}
	w.finished = append(w.finished, c)
	w.mu.Unlock()
	notify(w.wake)
}

// act measures the time to a call's first command. An acquire sends it at once, unless it waits for another hold of its
// process, so a long time shows that the machine was slow. world.mu is held.
func (c *Call) act() {
	if c.alone && trace.IsAcquire(c.Op) && c.Client.world.trace.Slack > 0 {
		c.Client.world.slow = max(c.Client.world.slow, time.Since(c.began))
	}
	c.alone = false
}

// runGuarded runs a call of the lock and returns its result. A panic becomes a result too.
func runGuarded(call *Call, do CallFunc) (result trace.Result) {
	defer func() {
		if p := recover(); p != nil {
			source := callerStack().panicSource(call.Client.world.config.SkipFrames)
			call.panicked = &source
			result = trace.Result{Error: fmt.Sprintf("panic: %v", p), Claim: trace.ClaimPanic}
		}
	}()
	result, err := do(call.ctx)
	switch {
	case err != nil && result.Held && call.Op == trace.OpTryLock:
		return trace.Result{Error: err.Error(), Err: err, Claim: trace.ClaimBoth}
	case err != nil:
		return trace.Result{Error: err.Error(), Err: err, Claim: call.Client.process.claimOf(err)}
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
func (p *Process) claimOf(err error) trace.Claim {
	var network net.Error
	var reply interface{ RedisError() } // as go-redis marks the errors that Redis answers
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network) || errors.As(err, &reply) ||
		p.driver != nil && p.driver.IsUnclear(err) {
		return trace.ClaimUnknown
	}
	return trace.ClaimRefused
}

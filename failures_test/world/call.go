package world

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lockkata/failures_test/trace"
)

// Held reports whether the call has returned and its caller holds the lock.
func (c *Call) Held() bool { return c.over && c.result.Held }

// Over reports whether the call has returned.
func (c *Call) Over() bool { return c.over }

// Failed reports whether the call has returned an error that is neither the lock's own answer nor the end of its context.
func (c *Call) Failed() bool {
	return c.over && c.result.Claim == trace.ClaimUnknown &&
		!errors.Is(c.result.Err, context.DeadlineExceeded) && !errors.Is(c.result.Err, context.Canceled)
}

// GoesOn reports whether the lock reports the end of the call's hold, and has not reported it yet.
func (c *Call) GoesOn() bool {
	select {
	case <-c.ended:
		return false
	default:
		return c.ended != nil
	}
}

// Answer returns the ledger's answer.
func (c *Call) Answer() trace.Answer { return c.answer }

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

// Patience is how long the call waits at most, if the lock and not its context ends the waiting.
func Patience(d time.Duration) Option { return func(c *Call) { c.bound = d } }

// Start begins a call of any method of the lock, in a new goroutine, and does not wait for it. op is the operation that
// the rules judge it as, such as [trace.OpLock]; pictures name it so.
func (c *Client) Start(op string, do CallFunc, options ...Option) *Call {
	call := c.newCall(op, options)
	done := call.ctx.Err() != nil // see [Done]
	call.record(trace.Called, trace.Event{Bound: call.bound, CtxDone: done})
	if trace.IsAcquire(op) && done {
		call.record(trace.Cancelled, trace.Event{})
	}
	call.began = time.Now()
	go call.run(do)
	return call
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

// Wait runs the world until the call has returned. It gives up at the horizon, and when the process
// is stopped, because then only the scenario can continue.
func (c *Call) Wait() *Call {
	w, p := c.Client.world, c.Client.process
	if !w.until(time.Now().Add(w.horizon()), func() bool { return c.over || p.isStopped() || c.inFlight() }) {
		c.record(trace.Blocked, trace.Event{Bound: w.horizon()})
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
	c.record(trace.Cancelled, trace.Event{})
	c.cancel()
}

// takeRunnable removes and returns the calls whose process is neither frozen nor dead, oldest
// first.
func (w *World) takeRunnable(calls *[]*Call) (now []*Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*calls = slices.DeleteFunc(*calls, func(c *Call) bool {
		notices := !c.Client.process.isStopped() || w.closing
		if notices {
			now = append(now, c)
		}
		return notices
	})
	slices.SortFunc(now, func(a, b *Call) int { return cmp.Compare(a.ID, b.ID) })
	return now
}

// finish records the calls that have returned. A stopped process has not seen the return yet.
func (w *World) finish() bool {
	finished := w.takeRunnable(&w.finished)
	for _, call := range finished {
		call.over = true
		call.result.Subscribed = call.Client.process.listens()
		call.record(trace.Returned, trace.Event{Result: &call.result, Bound: call.bound, Source: call.panicked})
		call.watch()
	}
	return len(finished) > 0
}

// watch records when the hold of a call ends, if the lock reports that.
func (c *Call) watch() {
	w := c.Client.world
	noticing, ok := c.Client.locker.(Noticing)
	if !ok || !c.result.Held || w.closing {
		return
	}
	ended, isLost := noticing.Lost(c.ctx)
	if c.ended = ended; ended == nil {
		return
	}
	go func() {
		select {
		case <-ended:
		case <-w.ctx.Done(): // some locks report only losses
			return
		}
		lost := isLost()
		w.mu.Lock()
		c.isLost = lost
		w.ended = append(w.ended, c)
		w.mu.Unlock()
		notify(w.wake)
	}()
}

// endHolds records the holds that were lost, and those whose context ended before their owner
// called Unlock. A stopped process has not noticed it yet.
func (w *World) endHolds() (recorded bool) {
	for _, call := range w.takeRunnable(&w.ended) {
		kind := trace.Lost
		if !call.isLost {
			kind = trace.Ended
		}
		if call.isLost || call.isKept() {
			w.record(trace.Event{Kind: kind, Client: call.Client.Name, Process: call.Client.process.name, Call: call.ID})
			recorded = true
		}
	}
	return recorded
}

// isKept reports whether the process has not called Unlock or Close since.
func (c *Call) isKept() bool {
	return !slices.ContainsFunc(c.Client.world.calls[c.ID:], func(later *Call) bool {
		return later.Client.process == c.Client.process && (later.Op == trace.OpUnlock || later.Op == trace.OpClose)
	})
}

package world

import (
	"cmp"
	"slices"

	"lockkata/failures_test/trace"
)

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
	noticing, ok := c.Client.process.locker.(Noticing)
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

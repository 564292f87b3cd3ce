package world

import (
	"cmp"
	"slices"
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

// finish records the calls that came back. One of a stopped process has not.
func (w *World) finish() bool {
	finished := w.takeRunnable(&w.finished)
	for _, call := range finished {
		call.over = true
		w.recordCall(Returned, call, Event{Result: &call.result, Bound: call.bound})
		w.watch(call)
	}
	return len(finished) > 0
}

// watch waits for the loss of a hold, if the lock tells.
func (w *World) watch(call *Call) {
	noticing, ok := call.Client.process.locker.(Noticing)
	if !ok || !call.result.Held || w.closing {
		return
	}
	ended, isLost := noticing.Lost(call.ctx)
	if ended == nil {
		return
	}
	go func() {
		select {
		case <-ended:
		case <-w.ctx.Done(): // a lock may tell of losses only
			return
		}
		if isLost() {
			w.mu.Lock()
			w.lost = append(w.lost, call)
			w.mu.Unlock()
			notify(w.wake)
		}
	}()
}

// loseHolds records the holds that were lost. A stopped process has not noticed.
func (w *World) loseHolds() bool {
	lost := w.takeRunnable(&w.lost)
	for _, call := range lost {
		w.record(Event{Kind: Lost, Client: call.Client.Name, Process: call.Client.process.name, Call: call.ID})
	}
	return len(lost) > 0
}

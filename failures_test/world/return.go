package world

import (
	"cmp"
	"slices"
)

// finish records the calls that came back. One of a stopped process has not.
func (w *World) finish() bool {
	w.mu.Lock()
	finished := w.finished
	w.finished = nil
	w.mu.Unlock()
	slices.SortFunc(finished, func(a, b *Call) int { return cmp.Compare(a.ID, b.ID) })
	recorded := false
	for _, call := range finished {
		if call.Client.process.isStopped() && !w.closing {
			w.mu.Lock()
			w.finished = append(w.finished, call)
			w.mu.Unlock()
			continue
		}
		call.over = true
		recorded = true
		w.record(Event{
			Kind: Returned, Client: call.Client.Name, Process: call.Client.process.name,
			Call: call.ID, Op: call.Op, Result: &call.result, Bound: call.bound,
		})
		w.watch(call)
	}
	return recorded
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
		<-ended
		if isLost() {
			w.mu.Lock()
			w.lost = append(w.lost, call)
			w.mu.Unlock()
			w.nudge()
		}
	}()
}

// loseHolds records the holds that were lost. A stopped process has not noticed.
func (w *World) loseHolds() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	var later, now []*Call
	for _, call := range w.lost {
		if call.Client.process.isStopped() && !w.closing {
			later = append(later, call)
		} else {
			now = append(now, call)
		}
	}
	w.lost = later
	slices.SortFunc(now, func(a, b *Call) int { return cmp.Compare(a.ID, b.ID) })
	for _, call := range now {
		w.record(Event{Kind: Lost, Client: call.Client.Name, Process: call.Client.process.name, Call: call.ID})
	}
	return len(now) > 0
}

package world

import (
	"cmp"
	"slices"
)

// awake takes those calls out whose process can notice what became of them, oldest first.
func (w *World) awake(calls *[]*Call) (now []*Call) {
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
	finished := w.awake(&w.finished)
	for _, call := range finished {
		call.over = true
		e := Event{Result: &call.result, Bound: call.bound}
		if e.Effects = w.handOver(call); len(e.Effects) > 0 {
			e.Keys = w.keys.keys()
		}
		w.recordCall(Returned, call, e)
		w.watch(call)
	}
	return len(finished) > 0
}

// handOver gives an entry to the client of a call that returned the lock: one of another goroutine
// of its process that holds nothing any more, where the client has none of its own. A lock may
// hand its key on inside a process.
func (w *World) handOver(call *Call) []Effect {
	if !call.result.Held {
		return nil
	}
	var left []place
	for at, owner := range w.keys.owners {
		switch {
		case owner.Client == call.Client.Name:
			return nil
		case owner.Process != call.Client.process.name || owner.Call == 0:
		case w.calls[owner.Call-1].over || w.calls[owner.Call-1].Op == OpUnlock:
			left = append(left, at)
		}
	}
	if len(left) == 0 {
		return nil
	}
	s := w.trace.Begin()
	for s.Next() {
	}
	var effects []Effect
	slices.SortFunc(left, func(a, b place) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.entry, b.entry)) })
	for _, at := range left {
		if owner := w.keys.owners[at]; s.Holds(owner.Client) == 0 {
			owner.Client, owner.Call = call.Client.Name, call.ID
			w.keys.owners[at] = owner
			effects = append(effects, Effect{Installed, at.key, owner})
		}
	}
	return effects
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
			nudge(w.wake)
		}
	}()
}

// loseHolds records the holds that were lost. A stopped process has not noticed.
func (w *World) loseHolds() bool {
	lost := w.awake(&w.lost)
	for _, call := range lost {
		w.record(Event{Kind: Lost, Client: call.Client.Name, Process: call.Client.process.name, Call: call.ID})
	}
	return len(lost) > 0
}

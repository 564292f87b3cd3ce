package world

import (
	"slices"
	"time"
)

// left leaves a scenario that is taken over.
type left struct{}

// Begin plays a scenario until that many events have happened, and no further: whoever
// called it decides what comes next. Faults that have not struck by then never do. The
// same scenario on the same lock is left at the same moment.
func (w *World) Begin(scenario func(*World), events int) {
	w.leaveAt = events
	defer func() {
		w.leaveAt = 0
		for _, p := range w.processes {
			p.faults = nil
		}
		if p := recover(); p != nil && p != (left{}) {
			panic(p)
		}
	}()
	scenario(w)
	w.settle()
}

// Patient has clients wait that long for the replies to what they send from now on. All of
// them have to be at rest.
func (w *World) Patient(d time.Duration) {
	for _, p := range w.processes {
		for _, rdb := range p.rdbs {
			rdb.Options().ReadTimeout = d
		}
	}
}

// leave leaves the scenario if it is time. A process whose lock is being made is not left.
func (w *World) leave() {
	if w.leaveAt > 0 && len(w.trace.Events) >= w.leaveAt && !slices.ContainsFunc(w.processes, func(p *process) bool { return p.locker == nil }) {
		panic(left{})
	}
}

// Actors are the clients that there are, and the goroutines of their processes.
func (w *World) Actors() (all []*Client) {
	for _, p := range w.processes {
		all = append(all, p.lanes...)
	}
	return all
}

// IsStopped tells whether the client's process stands still, or is dead.
func (c *Client) IsStopped() bool { return c.process.isStopped() }

// LastCall is the client's last call, nil if it has begun none.
func (c *Client) LastCall() (last *Call) {
	for _, call := range c.world.calls {
		if call.Client == c {
			last = call
		}
	}
	return last
}

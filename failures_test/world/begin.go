package world

import (
	"slices"
	"time"
)

// takenOver is the panic value that unwinds a scenario when the caller takes control.
type takenOver struct{}

// Begin plays a scenario until it has produced that many events, and returns. The caller then
// decides what happens next. Faults that have not struck by then never do. The same scenario with
// the same lock stops at the same event.
func (w *World) Begin(scenario func(*World), events int) {
	w.leaveAt = events
	defer func() {
		w.leaveAt = 0
		for _, p := range w.processes {
			p.faults = nil
		}
		if p := recover(); p != nil && p != (takenOver{}) {
			panic(p)
		}
	}()
	scenario(w)
	w.settle()
}

// Patient sets the read timeout of all clients to d. The clients have to be idle.
func (w *World) Patient(d time.Duration) {
	for _, p := range w.processes {
		for _, rdb := range p.rdbs {
			rdb.Options().ReadTimeout = d
		}
	}
}

// leave unwinds the scenario once it has produced the events that Begin asked for. It waits until
// the lock of each process has been constructed.
func (w *World) leave() {
	if w.leaveAt > 0 && len(w.trace.Events) >= w.leaveAt && !slices.ContainsFunc(w.processes, func(p *process) bool { return p.locker == nil }) {
		panic(takenOver{})
	}
}

// Actors returns the clients, those made by [Client.Goroutine] included.
func (w *World) Actors() (all []*Client) {
	for _, p := range w.processes {
		all = append(all, p.lanes...)
	}
	return all
}

// IsStopped reports whether the client's process is paused or dead.
func (c *Client) IsStopped() bool { return c.process.isStopped() }

// LastCall returns the client's last call; nil if it has begun none.
func (c *Client) LastCall() *Call {
	for _, call := range slices.Backward(c.world.calls) {
		if call.Client == c {
			return call
		}
	}
	return nil
}

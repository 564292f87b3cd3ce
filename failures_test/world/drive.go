package world

import (
	"slices"
	"time"
)

// Drive runs the clients until each waits for an answer or for time, calls next for one step, and
// repeats that until next returns false. Every run uses this loop.
func (w *World) Drive(next func() bool) { w.driveUntil(time.Now().Add(w.Lease/20), next) }

// driveUntil does the same. In real time, clients that ask every few milliseconds are never idle: then it returns false
// at that moment.
func (w *World) driveUntil(end time.Time, next func() bool) (atRest bool) {
	for {
		atRest = w.RunUntilIdle()
		w.leave()
		if !next() && atRest {
			return true
		}
		if w.trace.Slack > 0 && time.Now().After(end) {
			return false
		}
	}
}

// RunUntilIdle runs everything that needs no decision: the clients until each waits for an answer
// or for time, handshakes of new connections, returns of calls. It returns false if something
// happened before all were idle.
func (w *World) RunUntilIdle() (atRest bool) {
	for {
		atRest = w.rest()
		if w.receive() {
			continue
		}
		w.admit()
		w.prune()
		if !w.finish() && !w.endHolds() {
			return atRest
		}
	}
}

// rest waits until the clients are idle. It returns false if something happened first.
func (w *World) rest() bool {
	if w.trace.Slack > 0 { // in real time waiting takes long
		if on, _ := w.next(); on != nil {
			return true // the clients wait for that reply
		}
	}
	atRest, late := w.clock.Rest(w.wake)
	w.late(late)
	return atRest
}

// settle runs everything that can happen without time passing, in the default order.
func (w *World) settle() { w.Drive(w.step) }

// step delivers the oldest reply that can be delivered, else executes the first request, else lets writes
// reach replicas.
func (w *World) step() bool {
	on, todo := w.next()
	switch {
	case on != nil:
		on.deliver()
	case todo != nil:
		todo.execute()
	default:
		return w.catchUp()
	}
	return true
}

// next returns the wire with the next reply to deliver and the next request to execute, or nils.
func (w *World) next() (on *wire, todo *request) {
	now := w.reached
	var next *reply
	for _, p := range w.processes {
		if p.cut {
			continue
		}
		stopped := p.isStopped()
		for _, c := range p.wires {
			if c.node.down {
				continue
			}
			if !stopped && len(c.replies) > 0 && c.canArrive(c.replies[0], now) && (next == nil || c.replies[0].seq < next.seq) {
				next, on = c.replies[0], c
			}
			if len(c.requests) == 0 || stopped && (c.requests[0].due == 0 || p.crashed && c.requests[0].waiting) { // a delayed request was already on its way
				continue
			}
			if (c.requests[0].due <= now || c.requests[0].waiting && !c.requests[0].waits()) && (todo == nil || compareRequests(c.requests[0], todo) < 0) {
				todo = c.requests[0]
			}
		}
	}
	return on, todo
}

// leave unwinds the scenario once it has produced the events that Begin asked for. It waits until
// the lock of each process has been constructed.
func (w *World) leave() {
	if w.leaveAt > 0 && len(w.trace.Events) >= w.leaveAt && !slices.ContainsFunc(w.processes, func(p *Process) bool { return len(p.lockers) == 0 }) {
		panic(takenOver{})
	}
}

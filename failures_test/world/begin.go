package world

import (
	"time"
)

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

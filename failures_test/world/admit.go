package world

import (
	"slices"

	"lockkata/failures_test/trace"
)

// receive adopts new wires and what was written to them, and answers handshakes. It returns true if
// it answered one: then the command that waited for the connection is still to come.
func (w *World) receive() bool {
	w.mu.Lock()
	arrived := w.arrived
	w.arrived = nil
	for _, p := range w.processes {
		p.wires = append(p.wires, p.opened...)
		p.opened = nil
	}
	w.mu.Unlock()
	for _, r := range arrived {
		if isHandshake(r.Name) {
			r.wire.requests = append(r.wire.requests, r)
		} else {
			w.staged = append(w.staged, r)
		}
	}
	shook := false
	for c := range w.wires {
		shook = !c.process.cut && c.shakeHands() || shook
	}
	return shook
}

// shakeHands answers the handshakes of go-redis, even those of a frozen process: its goroutines
// still run, and go-redis holds a mutex during the handshake. A goroutine that waits for a mutex
// keeps the bubble from becoming idle.
func (w *wire) shakeHands() (shook bool) {
	for len(w.requests) > 0 && isHandshake(w.requests[0].Name) {
		r := w.requests[0]
		r.take()
		shook = true
		w.subscribed = w.subscribed || isTracking(r.Args)
		if raw, err := w.link.Execute(r.Args); err == nil {
			w.feed(raw)
		} else {
			w.sever()
		}
	}
	return shook
}

// admit puts the commands that arrived at the same moment onto their wires, in an order that does
// not depend on goroutine scheduling.
func (w *World) admit() {
	staged := w.staged
	w.staged = nil
	w.mu.Lock()
	for _, r := range staged {
		r.attribute()
	}
	w.mu.Unlock()
	// The commands that one goroutine writes to a wire, a pipeline, keep their order.
	type pipeline struct {
		wire *wire
		from string
	}
	orders := map[pipeline]string{}
	for _, r := range staged {
		r.Write = r.wire.changes(r.Name)
		r.Script = w.names.script(r.Name, r.Args)
		r.inside = r.wire.transaction
		p := pipeline{r.wire, r.source().String()}
		if _, known := orders[p]; !known {
			orders[p] = r.text() + p.from
		}
		r.order = orders[p]
	}
	slices.SortStableFunc(staged, compareRequests)
	for _, r := range staged {
		w.requests++
		r.id = w.requests
		r.wire.requests = append(r.wire.requests, r)
		r.record(trace.Sent, trace.Event{})
	}
}

// prune removes wires that their client has closed. A delayed command on such a wire still arrives.
func (w *World) prune() {
	for _, p := range w.processes {
		p.wires = slices.DeleteFunc(p.wires, func(c *wire) bool {
			w.mu.Lock()
			closed := c.closed
			w.mu.Unlock()
			if !closed {
				return false
			}
			c.unsubscribe()
			c.replies = nil
			c.requests = slices.DeleteFunc(c.requests, func(r *request) bool { return r.due == 0 })
			if len(c.requests) > 0 {
				return false
			}
			c.link.Close()
			return true
		})
	}
}

// isHandshake reports whether go-redis sends the command on its own when it opens a connection.
func isHandshake(name string) bool {
	return slices.Contains([]string{"HELLO", "CLIENT", "AUTH", "SELECT", "READONLY"}, name)
}

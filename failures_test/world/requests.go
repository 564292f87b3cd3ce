package world

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lockkata/failures_test/trace"
)

// shared is what the clients' goroutines write and the scenario's goroutine reads.
type shared struct {
	mu       sync.Mutex
	arrived  []*request
	finished []*Call
	ended    []*Call       // acquires whose hold has ended
	wake     chan struct{} // capacity 1: something arrived or finished
	slow     time.Duration // the longest time to the first command of a call
}

// notify does a non-blocking send on a wake-up channel of capacity 1.
func notify(waiting chan struct{}) {
	select {
	case waiting <- struct{}{}:
	default:
	}
}

// arrive queues the commands that a client wrote to its wire.
func (w *World) arrive(on *wire, commands [][]string, from *stack) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sender := on.process.sender(from)
	var starter *Call
	if sender == nil && w.config.AttributeTo == nil {
		starter = on.process.starter()
	}
	for _, args := range commands {
		r := &request{wire: on, starter: starter, stack: from}
		r.Server, r.Args, r.Name = on.node.Name, args, strings.ToUpper(args[0])
		if r.assign(sender); sender == nil {
			r.assign(on.process.attributeTo(args))
		}
		w.arrived = append(w.arrived, r)
	}
	notify(w.wake)
}

// assign sets the call that sends the request; nil for the background. world.mu is held.
func (r *request) assign(call *Call) {
	p := r.wire.process
	if r.call, r.lane, r.Op, r.Background = call, p.lanes[0], "", call == nil; call != nil {
		r.lane, r.Op = call.Client, call.Op
		call.act()
	}
	r.Lane = r.lane.Name
}

// settle assigns a request from an unknown goroutine, once nothing moves, to the call that started
// this goroutine and still waits for it. world.mu is held.
func (r *request) settle() {
	underWay := maps.Values(r.wire.process.running)
	if r.call == nil && r.starter != nil && slices.Contains(slices.Collect(underWay), r.starter) {
		r.assign(r.starter)
	}
}

// sender returns the call whose goroutine sent a command; nil for a goroutine started by the lock.
// It must run in the sending goroutine. world.mu is held.
func (p *process) sender(from *stack) *Call {
	switch {
	case len(p.running) == 0 || from.isWhole() && !from.startedBy(callEntry):
		return nil
	case len(p.running) == 1 && from.isWhole():
		for _, call := range p.running {
			return call
		}
	}
	return p.running[GoroutineID()] // also if the stack is too deep to see its start
}

// starter returns the call that is under way and has started the sending goroutine or delegated to
// it, see [Delegate]. It returns nil for a goroutine of go-redis. It must run in the sending
// goroutine. world.mu is held.
func (p *process) starter() *Call {
	if len(p.running) == 0 {
		return nil
	}
	if call := p.delegates[GoroutineID()]; call != nil {
		return call
	}
	function, parent := createdBy()
	if isLibrary(function) {
		return nil
	}
	return p.running[parent]
}

// attributeTo returns the oldest call under way to which the config attributes the command of a
// goroutine started by the lock. world.mu is held.
func (p *process) attributeTo(args []string) *Call {
	if p.world.config.AttributeTo == nil {
		return nil
	}
	client, is := p.world.config.AttributeTo(args)
	if !is {
		return nil
	}
	var oldest *Call
	for _, call := range p.running {
		if (client == "" || client == call.Client.Name) && (oldest == nil || call.ID < oldest.ID) {
			oldest = call
		}
	}
	return oldest
}

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
	return w.shakeHands()
}

// shakeHands answers the handshakes of go-redis, even those of a frozen process: its goroutines
// still run, and go-redis holds a mutex during the handshake. A goroutine that waits for a mutex
// keeps the bubble from becoming idle.
func (w *World) shakeHands() bool {
	shook := false
	for _, p := range w.processes {
		if p.cut {
			continue
		}
		for _, c := range p.wires {
			for len(c.requests) > 0 && isHandshake(c.requests[0].Name) {
				r := c.requests[0]
				w.take(r)
				shook = true
				c.subscribed = c.subscribed || isTracking(r.Args)
				if raw, err := c.link.Execute(r.Args); err == nil {
					c.deliver(raw)
				} else {
					w.breakWire(c)
				}
			}
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
		r.settle()
	}
	w.mu.Unlock()
	// The commands that one goroutine writes to a wire, a pipeline, keep their order.
	type pipeline struct {
		wire *wire
		from string
	}
	orders := map[pipeline]string{}
	for _, r := range staged {
		r.sent, r.Write = w.Now(), r.wire.changes(r.Name)
		p := pipeline{r.wire, r.stack.source(w.config.SkipFrames).String()}
		if _, known := orders[p]; !known {
			orders[p] = w.text(r) + p.from
		}
		r.order = orders[p]
	}
	slices.SortStableFunc(staged, compareRequests)
	for _, r := range staged {
		w.requests++
		r.id = w.requests
		r.wire.requests = append(r.wire.requests, r)
		w.recordRequest(trace.Sent, r, trace.Event{})
	}
}

// changes reports whether the next command on the wire is a write. In a transaction only EXEC is
// one, if a queued command is.
func (w *wire) changes(name string) bool {
	write := isWrite(w.node.server, name)
	switch {
	case name == "MULTI":
		w.transaction, w.writes = true, false
	case name == "EXEC", name == "DISCARD":
		write = w.writes && name == "EXEC"
		w.transaction = false
	case w.transaction:
		w.writes = w.writes || write
		return false
	}
	return write
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

func compareRequests(a, b *request) int {
	return cmp.Or(
		cmp.Compare(a.wire.process.index, b.wire.process.index),
		cmp.Compare(a.lane.index, b.lane.index),
		cmp.Compare(a.wire.node.index, b.wire.node.index),
		cmp.Compare(a.order, b.order),
	)
}

// isHandshake reports whether go-redis sends the command on its own when it opens a connection.
func isHandshake(name string) bool {
	return slices.Contains([]string{"HELLO", "CLIENT", "AUTH", "SELECT", "READONLY"}, name)
}

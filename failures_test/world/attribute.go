package world

import (
	"maps"
	"slices"
	"strings"
)

// arrive queues the commands that a client wrote to its wire.
func (w *wire) arrive(commands [][]string, from *stack) {
	world := w.world
	world.mu.Lock()
	defer world.mu.Unlock()
	sender := w.process.sender(from)
	var starter *Call
	if sender == nil {
		starter = w.process.starter()
	}
	for _, args := range commands {
		r := &request{wire: w, starter: starter, stack: from}
		r.Server, r.Args, r.Name = w.node.Name, args, strings.ToUpper(args[0])
		if r.assign(sender); sender == nil && starter == nil {
			r.assign(w.process.attributeTo(args))
		}
		world.arrived = append(world.arrived, r)
	}
	notify(world.wake)
}

// assign sets the call that sends the request; nil for the background. world.mu is held.
func (r *request) assign(call *Call) {
	p := r.wire.process
	if r.call, r.client, r.Op, r.Background = call, p.clients[0], "", call == nil; call != nil {
		r.client, r.Op = call.Client, call.Op
		call.act()
	}
	r.Client = r.client.Name
}

// attribute assigns a request from an unknown goroutine, once nothing moves, to the call that started
// this goroutine and still waits for it. world.mu is held.
func (r *request) attribute() {
	underWay := maps.Values(r.wire.process.running)
	if r.call == nil && r.starter != nil && slices.Contains(slices.Collect(underWay), r.starter) {
		r.assign(r.starter)
	}
}

// sender returns the call whose goroutine sent a command; nil for a goroutine started by the lock.
// It must run in the sending goroutine. world.mu is held.
func (p *Process) sender(from *stack) *Call {
	switch {
	case len(p.running) == 0 || from.isWhole() && !from.startedBy(callEntry):
		return nil
	case len(p.running) == 1 && from.isWhole():
		for _, call := range p.running {
			return call
		}
	}
	return p.running[goroutineID()] // also if the stack is too deep to see its start
}

// starter returns the call that is under way and has started the sending goroutine; nil for a
// goroutine of go-redis. It must run in the sending goroutine. world.mu is held.
func (p *Process) starter() *Call {
	if len(p.running) == 0 {
		return nil
	}
	function, parent := createdBy()
	if isLibrary(function) {
		return nil
	}
	return p.running[parent]
}

// attributeTo returns the oldest call under way to which the driver or the config attributes the command of a
// goroutine that no call under way has started. world.mu is held.
func (p *Process) attributeTo(args []string) *Call {
	attribute := p.world.config.AttributeTo
	if own, ok := p.driver.(Attributing); ok {
		attribute = own.Attribute
	}
	if attribute == nil {
		return nil
	}
	client, is := attribute(args)
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

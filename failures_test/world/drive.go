package world

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// shared is what the goroutines of clients hand to the scenario's.
type shared struct {
	mu       sync.Mutex
	arrived  []*request
	finished []*Call
	lost     []*Call       // acquires whose hold was lost
	wake     chan struct{} // capacity 1: something arrived or finished
	slow     time.Duration // how long a call took, at worst, before it did something
}

func (s *shared) init() {
	s.wake = make(chan struct{}, 1)
}

func (s *shared) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// arrive takes what a client wrote to its wire.
func (w *World) arrive(on *wire, commands [][]string, from *stack) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call := on.process.sender(from)
	lane := on.process.lanes[0]
	if call != nil {
		lane = call.Client
		call.act()
	}
	for _, args := range commands {
		r := &request{wire: on, lane: lane, call: call, stack: from}
		r.command = Command{Args: args, Name: strings.ToUpper(args[0]), Lane: lane.Name, Background: call == nil}
		if call != nil {
			r.command.Op = call.Op
		}
		w.arrived = append(w.arrived, r)
	}
	w.nudge()
}

// sender is the call whose goroutine sent something, nil for a goroutine that the
// lock started itself. world.mu is held.
func (p *process) sender(from *stack) *Call {
	switch {
	case len(p.running) == 0 || !from.startedBy(callEntry.Load()):
		return nil
	case len(p.running) == 1:
		for _, call := range p.running {
			return call
		}
	}
	return p.running[goroutineID()]
}

// receive takes over new wires and what was written to them. It answers what
// go-redis says by itself on a new connection, and tells whether it did: then a
// command that waited for the connection is still to come.
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
		if isHandshake(r.command.Name) {
			r.wire.requests = append(r.wire.requests, r)
		} else {
			w.staged = append(w.staged, r)
		}
	}
	return w.shakeHands()
}

func (w *World) shakeHands() bool {
	shook := false
	for _, p := range w.processes {
		if p.isStopped() || p.cut {
			continue
		}
		for _, c := range p.wires {
			for len(c.requests) > 0 && isHandshake(c.requests[0].command.Name) {
				r := c.requests[0]
				w.take(r)
				shook = true
				if raw, err := c.link.execute(r.command.Args); err == nil {
					c.deliver(raw)
				} else {
					w.breakWire(c)
				}
			}
		}
	}
	return shook
}

// admit puts the commands that arrived at one moment onto their wires, in an
// order that does not depend on which goroutine was faster.
func (w *World) admit() {
	staged := w.staged
	w.staged = nil
	for _, r := range staged {
		r.command.Write = isWrite(w.server, r.command.Name)
		r.order = strings.Join(w.names.command(r.command.Args, r.lane.Name), " ") + r.stack.source().String()
	}
	slices.SortStableFunc(staged, compareRequests)
	for _, r := range staged {
		r.wire.requests = append(r.wire.requests, r)
		w.recordRequest(Sent, r, Event{})
	}
}

// prune forgets the wires that their client has closed. A delayed command on one
// of them has left already and still arrives.
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
			c.link.close()
			return true
		})
	}
}

func compareRequests(a, b *request) int {
	return cmp.Or(
		cmp.Compare(a.wire.process.index, b.wire.process.index),
		cmp.Compare(a.lane.index, b.lane.index),
		cmp.Compare(a.order, b.order),
	)
}

// isHandshake tells what go-redis sends by itself when it opens a connection.
func isHandshake(name string) bool {
	switch name {
	case "HELLO", "CLIENT", "AUTH", "SELECT", "READONLY":
		return true
	}
	return false
}

// settle lets everything happen that can happen without time passing.
func (w *World) settle() {
	for {
		atRest := w.tempo.rest(w)
		if w.receive() {
			continue
		}
		w.admit()
		w.prune()
		w.collectPushes()
		if w.finish() || w.loseHolds() {
			continue
		}
		if !w.step() && atRest {
			return
		}
	}
}

// step does the next thing: the oldest reply that may be delivered, else the
// first request that may be executed.
func (w *World) step() bool {
	on, todo := w.next()
	switch {
	case on != nil:
		w.deliver(on)
	case todo != nil:
		w.execute(todo)
	default:
		return false
	}
	return true
}

// next is the wire whose reply may be delivered next, and the request that may be
// executed if there is none.
func (w *World) next() (on *wire, todo *request) {
	now := w.reached
	var next *reply
	for _, p := range w.processes {
		if p.isStopped() || p.cut {
			continue
		}
		for _, c := range p.wires {
			if len(c.replies) > 0 && w.canArrive(c, c.replies[0], now) && (next == nil || c.replies[0].seq < next.seq) {
				next, on = c.replies[0], c
			}
			if len(c.requests) > 0 && c.requests[0].due <= now && (todo == nil || compareRequests(c.requests[0], todo) < 0) {
				todo = c.requests[0]
			}
		}
	}
	return on, todo
}

// canArrive tells whether a reply may be delivered. One that was delayed beyond
// its reader's deadline never is: in fake time its reader has left by then.
func (w *World) canArrive(on *wire, r *reply, now time.Duration) bool {
	return r.due <= now && (r.due == 0 || !on.isLate(w.start.Add(r.due)))
}

// execute runs the request at the head of its wire, unless a fault takes it over.
func (w *World) execute(r *request) {
	if w.strike(beforeExecution, r) == stop {
		return
	}
	w.take(r)
	if r.store != nil {
		w.store(r)
		return
	}
	w.lapse()
	raw, err := r.wire.link.execute(r.command.Args)
	if err != nil {
		w.recordRequest(Dropped, r, Event{Text: "Redis is gone"})
		w.breakWire(r.wire)
		return
	}
	w.note(r)
	r.command.Effects = w.compare(r.lane, r.callID(), false)
	text, _ := replyText(raw)
	rep := w.newReply(r, raw, w.names.text(text, r.lane.Name))
	w.recordRequest(Executed, r, Event{Reply: rep.text, Effects: r.command.Effects, Keys: w.keys.keys()})
	w.server.settlePushes(w.processes) // they reach their wires before the reply wakes its reader
	w.collectPushes()
	w.strike(afterExecution, r)
}

// take removes a request from the head of its wire.
func (w *World) take(r *request) { r.wire.requests = r.wire.requests[1:] }

// note remembers what a command means for its connection or for the world.
func (w *World) note(r *request) {
	switch r.command.Name {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE":
		r.wire.subscribed = true
	case "EVAL":
		if len(r.command.Args) > 1 {
			w.keys.learnScript(r.command.Args[1])
		}
	case "SCRIPT":
		if len(r.command.Args) > 2 && strings.EqualFold(r.command.Args[1], "load") {
			w.keys.learnScript(r.command.Args[2])
		}
	}
}

func (w *World) newReply(r *request, raw []byte, text string) *reply {
	w.replies++
	rep := &reply{request: r, raw: raw, text: text, seq: w.replies}
	r.wire.replies = append(r.wire.replies, rep)
	return rep
}

// collectPushes finds what Redis wrote to subscribers since the last step.
func (w *World) collectPushes() {
	for _, p := range w.processes {
		for _, c := range p.wires {
			raw := c.link.pushed()
			for len(raw) > 0 {
				text, rest := replyText(raw)
				w.replies++
				c.replies = append(c.replies, &reply{raw: raw[:len(raw)-len(rest)], text: text, seq: w.replies})
				raw = rest
			}
		}
	}
}

// deliver lets the client read the reply at the head of its wire.
func (w *World) deliver(on *wire) {
	rep := on.replies[0]
	on.replies = on.replies[1:]
	if rep.request != nil {
		w.recordRequest(Delivered, rep.request, Event{Reply: rep.text})
	} else {
		w.record(Event{
			Kind: Delivered, Client: on.process.lanes[0].Name, Process: on.process.name, Background: true, Reply: rep.text,
		})
	}
	on.deliver(rep.raw)
}

// recordRequest records an event about a request.
func (w *World) recordRequest(kind Kind, r *request, e Event) {
	if w.closing {
		return
	}
	e.Kind, e.Client, e.Process, e.Background = kind, r.lane.Name, r.wire.process.name, r.command.Background
	e.Call, e.Op = r.callID(), r.command.Op
	e.Command = w.names.command(r.command.Args, r.lane.Name)
	if r.store == nil {
		source := r.stack.source()
		e.Source = &source
	}
	w.record(e)
}

func (r *request) callID() int {
	if r.call == nil {
		return 0
	}
	return r.call.ID
}

// compare takes stock of Redis. When the scenario is over nobody asks any more.
func (w *World) compare(lane *Client, call int, lapse bool) []Effect {
	if w.closing {
		return nil
	}
	return w.keys.compare(lane, call, lapse)
}

// lapse records the keys whose lease has ended.
func (w *World) lapse() {
	if effects := w.compare(nil, 0, true); len(effects) > 0 {
		w.record(Event{Kind: Expired, Effects: effects, Keys: w.keys.keys()})
	}
}

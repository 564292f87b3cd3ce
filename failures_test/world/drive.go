package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
)

// Drive runs the clients until each waits for an answer or for time, calls next for one step, and
// repeats that until next returns false. Every run uses this loop.
func (w *World) Drive(next func() bool) {
	for {
		atRest := w.RunUntilIdle()
		w.leave()
		if !next() && atRest {
			return
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

// step delivers the oldest reply that can be delivered, else executes the first request.
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
			if !stopped && len(c.replies) > 0 && w.canArrive(c, c.replies[0], now) && (next == nil || c.replies[0].seq < next.seq) {
				next, on = c.replies[0], c
			}
			if len(c.requests) == 0 || stopped && c.requests[0].due == 0 { // a delayed request was already on its way
				continue
			}
			if c.requests[0].due <= now && (todo == nil || compareRequests(c.requests[0], todo) < 0) {
				todo = c.requests[0]
			}
		}
	}
	return on, todo
}

// canArrive reports whether a reply can be delivered. A reply that is delayed beyond its reader's
// deadline never is: in fake time the reader has given up by then.
func (w *World) canArrive(on *wire, r *reply, now time.Duration) bool {
	return r.due <= now && (r.due == 0 || !on.isLate(w.start.Add(r.due)))
}

// execute runs the request at the head of its wire, unless a fault handles it.
func (w *World) execute(r *request) {
	if w.strike(trace.BeforeCommand, r) {
		return
	}
	w.take(r)
	if r.store != nil {
		w.store(r)
		return
	}
	w.meter(r)
	w.refuseBlocking(r)
	w.lapse()
	raw, err := r.wire.link.Execute(r.Args)
	if err != nil {
		w.recordRequest(trace.Dropped, r, trace.Event{Fault: trace.Gone})
		w.breakWire(r.wire)
		return
	}
	w.note(r)
	r.Effects = r.wire.node.compare(r.lane, r.callID(), false)
	text, _ := replyText(raw)
	rep := w.newReply(r, raw, w.names.text(text, r.lane.Name))
	w.recordRequest(trace.Executed, r, trace.Event{Reply: rep.text, Effects: r.Effects, Keys: w.allKeys()})
	w.collectPushes() // they reach their wires before the reply wakes its reader
	w.strike(trace.AfterCommand, r)
}

// mostInASecond limits the commands of a client in a second of fake time. A lock that polls every
// millisecond stays below it. A lock that never waits would loop forever.
const mostInASecond = 2_000

// FloodError is the error of a scenario whose lock sends commands without a pause.
type FloodError struct{ Client, Function, Line string }

func (e FloodError) Error() string {
	return fmt.Sprintf("%s floods Redis at %s: more than %d commands in a second", e.Client, e.Line, mostInASecond)
}

// meter counts a command, and fails the scenario with a FloodError if there are too many.
func (w *World) meter(r *request) {
	p := r.lane.process
	if second := w.Now() / time.Second; second != p.second {
		p.second, p.sent = second, 0
	}
	if p.sent++; p.sent > mostInASecond && w.trace.Slack == 0 && !w.closing {
		w.flooded = true
		line := r.stack.source(w.config.SkipFrames)
		fail("%w", FloodError{r.lane.Name, line.Function, line.String()})
	}
}

// blocking lists the commands that block in Redis until data arrives.
var blocking = []string{"BLPOP", "BRPOP", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "BRPOPLPUSH", "BLMOVE"}

// isBlocking reports whether a command can block in Redis.
func isBlocking(args []string) bool {
	name := strings.ToUpper(args[0])
	isBlock := func(arg string) bool { return strings.EqualFold(arg, "BLOCK") }
	return slices.Contains(blocking, name) || strings.HasPrefix(name, "XREAD") && slices.ContainsFunc(args, isBlock)
}

// refuseBlocking fails the scenario if the command blocks: the world cannot play it.
func (w *World) refuseBlocking(r *request) {
	if isBlocking(r.Args) && !w.closing {
		line := r.stack.source(w.config.SkipFrames)
		fail("%s sends %s at %s: the world cannot play a command that waits in Redis; poll, or wait for a message", r.lane.Name, r.Name, line.String())
	}
}

// take removes a request from the head of its wire.
func (w *World) take(r *request) { r.wire.requests = r.wire.requests[1:] }

// note records a subscription, or a script that Redis knows from now on.
func (w *World) note(r *request) {
	switch name, args := r.Name, r.Args; {
	case slices.Contains([]string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"}, name):
		r.wire.subscribed = true
	case name == "EVAL" && len(args) > 1:
		r.wire.node.keys.learnScript(args[1])
	case name == "SCRIPT" && len(args) > 2 && strings.EqualFold(args[1], "load"):
		r.wire.node.keys.learnScript(args[2])
	}
}

func (w *World) newReply(r *request, raw []byte, text string) *reply {
	w.replies++
	rep := &reply{request: r, raw: raw, text: text, seq: w.replies}
	r.wire.replies = append(r.wire.replies, rep)
	return rep
}

// collectPushes queues what Redis has pushed to subscribers since the last step.
func (w *World) collectPushes() {
	for c := range w.wires {
		if !c.subscribed {
			continue
		}
		raw := c.link.Pushed()
		for len(raw) > 0 {
			text, rest := replyText(raw)
			w.replies++
			c.replies = append(c.replies, &reply{raw: raw[:len(raw)-len(rest)], text: text, seq: w.replies})
			raw = rest
		}
	}
}

// deliver lets the client read the reply at the head of its wire.
func (w *World) deliver(on *wire) {
	rep := on.replies[0]
	on.replies = on.replies[1:]
	if rep.request != nil {
		w.recordRequest(trace.Delivered, rep.request, trace.Event{Reply: rep.text})
	} else {
		w.recordProcess(trace.Delivered, on.process, trace.Event{Background: true, Reply: rep.text})
	}
	on.deliver(rep.raw)
}

func (w *World) recordRequest(kind trace.Kind, r *request, e trace.Event) {
	if w.closing {
		return
	}
	e.Kind, e.Client, e.Process, e.Background = kind, r.lane.Name, r.wire.process.name, r.Background
	e.Call, e.Op, e.Request, e.Server = r.callID(), r.Op, r.id, r.Server
	e.Command = w.names.command(r.Args, r.lane.Name)
	if r.store == nil {
		source := r.stack.source(w.config.SkipFrames)
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

// lapse records the keys that have expired.
func (w *World) lapse() {
	for _, n := range w.nodes {
		if effects := n.compare(nil, 0, true); len(effects) > 0 {
			n.record(trace.Event{Kind: trace.Expired}, effects)
			w.collectPushes()
		}
	}
}

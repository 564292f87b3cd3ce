package world

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Drive is the loop of every run, whoever decides: it lets the clients go on until each
// waits for an answer or for time, then has next do one thing, and so on, until next has
// nothing to do.
func (w *World) Drive(next func() bool) {
	for {
		atRest := w.RunUntilIdle()
		w.leave()
		if !next() && atRest {
			return
		}
	}
}

// RunUntilIdle lets everything happen that needs no choice: the clients run until each waits for
// an answer or for time, new connections shake hands, calls return. It returns false when
// something happened first.
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

// rest waits until the clients have nothing more to do at this moment. It returns false when
// something happened first.
func (w *World) rest() bool {
	if w.trace.Slack > 0 { // in real time waiting takes long
		if on, _ := w.next(); on != nil {
			return true // what the clients do next depends on that reply
		}
	}
	atRest, late := w.clock.Rest(w.wake)
	w.late(late)
	return atRest
}

// settle lets everything happen that can happen without time passing, as a script has it.
func (w *World) settle() { w.Drive(w.step) }

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
			if len(c.requests) == 0 || stopped && c.requests[0].due == 0 { // what is late had left before
				continue
			}
			if c.requests[0].due <= now && (todo == nil || compareRequests(c.requests[0], todo) < 0) {
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
	if w.strike(BeforeCommand, r) {
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
		w.recordRequest(Dropped, r, Event{Fault: Gone})
		w.breakWire(r.wire)
		return
	}
	w.note(r)
	r.Effects = r.wire.node.compare(r.lane, r.callID(), false)
	text, _ := replyText(raw)
	rep := w.newReply(r, raw, w.names.text(text, r.lane.Name))
	w.recordRequest(Executed, r, Event{Reply: rep.text, Effects: r.Effects, Keys: w.allKeys()})
	w.collectPushes() // they reach their wires before the reply wakes its reader
	w.strike(AfterCommand, r)
}

// mostInASecond is how many commands a client may send in a second of fake time. A lock that
// asks every millisecond stays below it; one that never waits would never end.
const mostInASecond = 2_000

// FloodError ends a scenario whose lock sends commands without a pause.
type FloodError struct{ Client, Function, Line string }

func (e FloodError) Error() string {
	return fmt.Sprintf("%s floods Redis at %s: more than %d commands in a second", e.Client, e.Line, mostInASecond)
}

// meter counts a command, and ends the scenario of a lock that floods Redis.
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

// blocking lists the commands that wait in Redis until there is something for them.
var blocking = []string{"BLPOP", "BRPOP", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "BRPOPLPUSH", "BLMOVE"}

// isBlocking reports whether a command may wait in Redis.
func isBlocking(args []string) bool {
	name := strings.ToUpper(args[0])
	isBlock := func(arg string) bool { return strings.EqualFold(arg, "BLOCK") }
	return slices.Contains(blocking, name) || strings.HasPrefix(name, "XREAD") && slices.ContainsFunc(args, isBlock)
}

// refuseBlocking ends the scenario of a lock that sends such a command: the world cannot play it.
func (w *World) refuseBlocking(r *request) {
	if isBlocking(r.Args) && !w.closing {
		line := r.stack.source(w.config.SkipFrames)
		fail("%s sends %s at %s: the world cannot play a command that waits in Redis; poll, or wait for a message", r.lane.Name, r.Name, line.String())
	}
}

// take removes a request from the head of its wire.
func (w *World) take(r *request) { r.wire.requests = r.wire.requests[1:] }

// note remembers what a command means for its connection or for the world.
func (w *World) note(r *request) {
	switch name, args := r.Name, r.Args; {
	case isSubscribe(name):
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

// collectPushes finds what Redis wrote to subscribers since the last step.
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
		w.recordRequest(Delivered, rep.request, Event{Reply: rep.text})
	} else {
		w.recordProcess(Delivered, on.process, Event{Background: true, Reply: rep.text})
	}
	on.deliver(rep.raw)
}

// recordRequest records an event about a request.
func (w *World) recordRequest(kind Kind, r *request, e Event) {
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

// lapse records the keys whose lease has ended.
func (w *World) lapse() {
	for _, n := range w.nodes {
		if effects := n.compare(nil, 0, true); len(effects) > 0 {
			n.record(Event{Kind: Expired}, effects)
			w.collectPushes()
		}
	}
}

package world

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/trace"
)

// execute runs the request at the head of its wire, unless a fault handles it.
func (r *request) execute() {
	w := r.wire.world
	if !r.waiting && r.strike(trace.BeforeCommand) || r.waits() {
		return
	}
	r.take()
	if r.store != nil {
		r.apply()
		return
	}
	r.meter()
	r.refuseBlocking()
	w.lapse()
	raw, err := r.run()
	if err != nil {
		r.record(trace.Dropped, trace.Event{Fault: trace.Gone})
		r.wire.sever()
		return
	}
	r.note()
	r.Effects = r.wire.node.refresh(installer{r.Client, r.wire.process.name, r.callID(), r.Op == trace.OpUnlock}, false)
	text, _ := replyText(raw)
	rep := r.answer(raw, w.names.text(text, r.Client))
	e := trace.Event{Reply: rep.text, Effects: r.Effects, Keys: w.allKeys(), Copies: w.copiesAfter()}
	if p, ok := r.wire.link.(publisher); ok && p.Published() {
		e.Published = len(w.trace.Events) + 1
	}
	listeners := w.collectPushes(e.Published) // they reach their wires before the reply wakes its reader
	if e.Published > 0 {
		e.Listeners = listeners
	}
	r.record(trace.Executed, e)
	if r.Write {
		r.wire.node.ship()
	}
	r.wire.offset = r.wire.node.offset
	r.strike(trace.AfterCommand)
}

// run lets Redis, or the world for a WAIT, answer the request.
func (r *request) run() ([]byte, error) {
	switch _, _, is := r.isWait(); {
	case is && r.inside: // Redis does not wait then
		return r.wire.link.Execute([]string{"EVAL", "return " + strconv.Itoa(r.wire.node.confirmed(r.wire.offset)), "0"})
	case is:
		return fmt.Appendf(nil, ":%d\r\n", r.wire.node.confirmed(r.wire.offset)), nil
	}
	if lists, _, pops := r.pops(); pops && !r.exist(lists) { // its time is over
		return r.wire.link.Execute([]string{"LPOP", lists[0]})
	}
	args := slices.Clone(r.Args)
	if keys := keysOf(args); r.routed {
		for i, key := range keys {
			if hashTag(key) != hashTag(keys[0]) {
				keys[i] = "on another server: " + key
			}
		}
	}
	return r.wire.link.Execute(args)
}

// take removes a request from the head of its wire.
func (r *request) take() { r.wire.requests = r.wire.requests[1:] }

// note records a subscription, or a script that Redis knows from now on.
func (r *request) note() {
	switch name, args := r.Name, r.Args; {
	case slices.Contains([]string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"}, name):
		r.wire.subscribed = true
	case name == "EVAL" && len(args) > 1:
		r.wire.node.keys.learnScript(args[1])
	case name == "SCRIPT" && len(args) > 2 && strings.EqualFold(args[1], "load"):
		r.wire.node.keys.learnScript(args[2])
	}
}

// answer queues the reply to a request.
func (r *request) answer(raw []byte, text string) *reply {
	w := r.wire.world
	w.replies++
	rep := &reply{request: r, raw: raw, text: text, seq: w.replies}
	r.wire.replies = append(r.wire.replies, rep)
	return rep
}

// deliver lets the client read the reply at the head of its wire.
func (w *wire) deliver() {
	rep := w.replies[0]
	w.replies = w.replies[1:]
	if rep.request != nil {
		rep.request.record(trace.Delivered, trace.Event{Reply: rep.text})
	} else {
		w.process.record(trace.Delivered, trace.Event{Background: true, Reply: rep.text, Published: rep.published})
	}
	w.feed(rep.raw)
}

// strike applies the first fault that matches. It returns true if there is one: then the fault has
// handled the command or its reply. If it has held the command up, the faults after it can strike then.
func (r *request) strike(at trace.Moment) bool {
	w := r.wire.world
	if w.closing {
		return false
	}
	faults := w.faults
	if at == trace.BeforeCommand && r.struck {
		faults = r.later
	}
	for i, f := range faults {
		mine := f.client == nil || f.client.process == r.wire.process
		if mine && f.moment == at && f.times != 0 && f.match(r.Command) {
			f.times--
			f.missed = ""
			r.struck, r.later = true, faults[i+1:]
			f.act(r)
			return true
		}
	}
	return false
}

// apply executes an operation that has reached the ledger.
func (r *request) apply() {
	call := r.call
	call.answer = r.store()
	call.over = true
	r.wire.closed = true
	r.record(trace.Stored, trace.Event{Answer: &call.answer, Orders: slices.Clone(call.Client.world.ledger.orders)})
}

// refuse answers a request with an error, as replace does.
func (r *request) refuse(at trace.Moment, text string) {
	r.replace(at, "-"+text+"\r\n", trace.ErrorPrefix+text)
}

// replace answers a request with raw instead of executing it, or replaces its reply.
func (r *request) replace(at trace.Moment, raw, text string) {
	var rep *reply
	if at == trace.AfterCommand {
		rep = r.wire.newest()
	} else {
		r.take()
		if r.Name == "EXEC" { // a refused EXEC ends the transaction
			_, _ = r.wire.link.Execute([]string{"DISCARD"})
		}
		rep = r.answer(nil, "")
	}
	rep.raw, rep.text = []byte(raw), text
	r.record(trace.Refused, trace.Event{Reply: rep.text})
}

// drop drops a request or its reply and breaks the connection.
func (r *request) drop(at trace.Moment) {
	r.record(trace.Dropped, trace.Event{Moment: at})
	r.wire.sever()
}

// delay delays a request or its reply by d.
func (r *request) delay(at trace.Moment, d time.Duration) {
	until := r.wire.world.Now() + d
	if at == trace.BeforeCommand {
		r.due = until
	} else {
		r.wire.newest().due = until
	}
	r.record(trace.Delayed, trace.Event{Moment: at, Bound: d})
}

func compareRequests(a, b *request) int {
	return cmp.Or(
		cmp.Compare(a.wire.process.index, b.wire.process.index),
		cmp.Compare(a.client.index, b.client.index),
		cmp.Compare(a.wire.node.index, b.wire.node.index),
		cmp.Compare(a.order, b.order),
	)
}

// meter counts a command, and fails the scenario with a FloodError if there are too many.
func (r *request) meter() {
	p, w := r.wire.process, r.wire.world
	if second := w.Now() / time.Second; second != p.second {
		p.second, p.sent = second, 0
	}
	if p.sent++; p.sent > mostInASecond && w.trace.Slack == 0 && !w.closing {
		line := r.source()
		w.flood = FloodError{r.Client, line.Function, line.String()}
		fail("%w", w.flood)
	}
}

// lapse records the keys that have expired.
func (w *World) lapse() {
	for _, n := range w.nodes {
		if effects := n.refresh(installer{}, true); len(effects) > 0 {
			n.record(trace.Event{Kind: trace.Expired}, effects)
			w.collectPushes(0)
		}
	}
}

// collectPushes queues what Redis has pushed to subscribers since the last step, and returns their clients.
// published is the step of the command that did it.
func (w *World) collectPushes(published int) (listeners []string) {
	for c := range w.wires {
		if !c.subscribed {
			continue
		}
		raw := c.link.Pushed()
		if len(raw) > 0 {
			listeners = append(listeners, c.process.clients[0].Name)
		}
		for len(raw) > 0 {
			text, rest := replyText(raw)
			w.replies++
			c.replies = append(c.replies, &reply{raw: raw[:len(raw)-len(rest)], text: text, seq: w.replies, published: published})
			raw = rest
		}
	}
	return listeners
}

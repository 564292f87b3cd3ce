package world

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Action is a kind of step that can be chosen.
type Action int

// The actions.
const (
	Execute Action = iota // Redis, or the ledger, runs what a client has sent
	Deliver               // a reply or a message reaches its client
	Tick                  // time passes until something else happens
	Crash                 // a process ends for good
	Freeze                // a process stands still
	Thaw                  // it goes on
	Lose                  // a reply is lost, and its connection breaks
	Leave                 // a call's context is cancelled
	Refuse                // Redis answers a command with an error
	Heal                  // a process has its network again
)

// Choice is a step that can be taken next.
type Choice struct {
	// Token names the choice among those of its moment: a, a2 execute what A sent;
	// A, A2 deliver what A is to read; t lets time pass; xa crashes A, za freezes it,
	// wa wakes it, da loses what it is to read, ha gives its network back.
	Token  string
	Action Action
	Client string // the process's; "" of a Tick
	// What is the command that is executed, or the answer that is delivered or lost.
	What string

	process *process
	request *request
	wire    *wire
	call    *Call
}

// Choices are the steps that can be taken now, of executing, delivering and
// thawing first, client by client. Time can pass unless it would pass the end.
// What harms is offered for every process that is alive.
func (w *World) Choices(end time.Duration) []Choice {
	var steps []Choice
	for _, p := range w.processes {
		if !p.crashed {
			steps = append(steps, w.choicesOf(p)...)
		}
	}
	if w.now() < end {
		steps = append(steps, Choice{Token: "t", Action: Tick})
	}
	for _, p := range w.processes {
		if p.crashed {
			continue
		}
		letter := strings.ToLower(p.name)
		steps = append(steps, Choice{Token: "x" + letter, Action: Crash, Client: p.name, process: p})
		if p.frozen {
			continue
		}
		steps = append(steps, Choice{Token: "z" + letter, Action: Freeze, Client: p.name, process: p})
		for i, on := range p.readable() {
			steps = append(steps, Choice{
				Token: numbered("d"+letter, i), Action: Lose, Client: p.name, What: on.replies[0].text, process: p, wire: on,
			})
		}
	}
	for _, p := range w.processes {
		if p.crashed || p.frozen {
			continue
		}
		for i, r := range p.executable() {
			if isAcquire(r.command.Op) { // a full Redis lets a lock be freed
				steps = append(steps, Choice{
					Token: numbered("r"+strings.ToLower(p.name), i), Action: Refuse, Client: p.name, What: w.text(r), process: p, request: r,
				})
			}
		}
	}
	for _, c := range w.calls {
		if p := c.Client.process; !c.over && isAcquire(c.Op) && !p.isStopped() && c.ctx.Err() == nil {
			steps = append(steps, Choice{Token: "c" + strings.ToLower(c.Client.Name), Action: Leave, Client: p.name, What: c.Op, process: p, call: c})
		}
	}
	return steps
}

// choicesOf are the harmless steps of a process.
func (w *World) choicesOf(p *process) []Choice {
	letter := strings.ToLower(p.name)
	if p.frozen {
		return []Choice{{Token: "w" + letter, Action: Thaw, Client: p.name, process: p}}
	}
	if p.cut {
		return []Choice{{Token: "h" + letter, Action: Heal, Client: p.name, process: p}}
	}
	var steps []Choice
	for i, on := range p.readable() {
		steps = append(steps, Choice{
			Token: numbered(p.name, i), Action: Deliver, Client: p.name, What: on.replies[0].text, process: p, wire: on,
		})
	}
	for i, r := range p.executable() {
		steps = append(steps, Choice{
			Token: numbered(letter, i), Action: Execute, Client: p.name, What: w.text(r), process: p, request: r,
		})
	}
	return steps
}

// executable are the requests of a process that may be executed next.
func (p *process) executable() []*request {
	if p.cut {
		return nil
	}
	var requests []*request
	for _, c := range p.wires {
		if len(c.requests) > 0 {
			requests = append(requests, c.requests[0])
		}
	}
	slices.SortStableFunc(requests, compareRequests)
	return requests
}

// text is a request as one would type it.
func (w *World) text(r *request) string {
	return strings.Join(w.names.command(r.command.Args, r.lane.Name), " ")
}

// readable are the wires of a process on which something waits to be read, the
// oldest first.
func (p *process) readable() []*wire {
	if p.cut {
		return nil
	}
	var wires []*wire
	for _, c := range p.wires {
		if len(c.replies) > 0 {
			wires = append(wires, c)
		}
	}
	slices.SortFunc(wires, func(a, b *wire) int { return cmp.Compare(a.replies[0].seq, b.replies[0].seq) })
	return wires
}

// numbered leaves the first one without a number.
func numbered(token string, i int) string {
	if i == 0 {
		return token
	}
	return token + strconv.Itoa(i+1)
}

// Take takes a step. Time passes until end at most. RunUntilIdle lets the clients go on
// from it.
func (w *World) Take(c Choice, end time.Duration) {
	switch c.Action {
	case Execute:
		w.execute(c.request)
	case Deliver:
		w.deliver(c.wire)
	case Tick:
		w.tick(end)
	case Crash:
		w.crash(c.process, Event{})
	case Freeze:
		w.freeze(c.process, Event{})
	case Thaw:
		w.record(Event{Kind: Thawed, Client: c.process.lanes[0].Name, Process: c.process.name})
		w.thaw(c.process)
	case Lose:
		w.lose(c.wire)
	case Heal:
		w.record(Event{Kind: Healed, Client: c.process.lanes[0].Name, Process: c.process.name})
		w.heal(c.process)
	case Refuse:
		w.refuse(c.request, outOfMemory)
	case Leave:
		w.record(Event{Kind: Cancelled, Client: c.call.Client.Name, Process: c.process.name, Call: c.call.ID, Op: c.call.Op})
		c.call.cancel()
	}
}

// tick lets time pass until something happens that can be seen. A process that
// stands still only sends, and what it sends waits.
func (w *World) tick(end time.Duration) {
	for seen := len(w.trace.Events); w.now() < end; {
		w.advance(w.start.Add(end))
		w.reached = w.now()
		w.lapse()
		w.RunUntilIdle()
		for ; seen < len(w.trace.Events); seen++ {
			if e := w.trace.Events[seen]; e.Kind != Sent || !w.isFrozen(e.Process) {
				return
			}
		}
	}
}

func (w *World) isFrozen(name string) bool {
	return slices.ContainsFunc(w.processes, func(p *process) bool { return p.name == name && p.frozen })
}

// lose loses what waits to be read on a wire, and breaks it.
func (w *World) lose(on *wire) {
	if r := on.replies[0].request; r != nil {
		w.drop(r, afterExecution)
		return
	}
	w.record(Event{
		Kind: Dropped, Client: on.process.lanes[0].Name, Process: on.process.name, Background: true, Text: "what was pushed is lost",
	})
	w.breakWire(on)
}

// Now is the fake time since the world began.
func (w *World) Now() time.Duration { return w.now() }

// Trace is what has happened so far.
func (w *World) Trace() *Trace { return w.trace }

// GiveUp records that the calls that are still under way are no longer waited for.
func (w *World) GiveUp() {
	for _, c := range w.calls {
		p := c.Client.process
		if !c.over && !p.isStopped() {
			w.record(Event{
				Kind: Blocked, Client: c.Client.Name, Process: p.name, Call: c.ID, Op: c.Op, Bound: w.config.Horizon,
			})
		}
	}
}

// NextBy is when, at the latest, a Tick ends: the next lease that ends, or the end.
// A client's timer can end it sooner.
func (w *World) NextBy(end time.Duration) time.Duration {
	if at, ok := w.keys.nextExpiry(); ok {
		end = min(end, at.Sub(w.start))
	}
	return end
}

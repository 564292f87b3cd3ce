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
	// Op and Order are those of a call to the ledger that is executed: Check or Insert, and the order.
	Op, Order string

	take func()
}

// Take takes the step. RunUntilIdle lets the clients go on from it.
func (c Choice) Take() { c.take() }

// Choices are the steps that can be taken now, of executing, delivering and
// thawing first, client by client. Time can pass, until end at most, unless it would pass
// the end. What harms is offered for every process that is alive.
func (w *World) Choices(end time.Duration) []Choice {
	steps := make([]Choice, 0, 16)
	alive := slices.DeleteFunc(slices.Clone(w.processes), func(p *process) bool { return p.crashed })
	for _, p := range alive {
		steps = w.harmless(steps, p)
	}
	if w.Now() < end {
		steps = append(steps, Choice{Token: "t", Action: Tick, take: func() { w.tick(end) }})
	}
	for _, p := range alive {
		steps = append(steps, p.choice(Crash, "x", 0, "", func() { w.crash(p, Event{}) }))
		if !p.isStopped() {
			steps = append(steps, p.choice(Freeze, "z", 0, "", func() { w.freeze(p, Event{}) }))
			for i, on := range p.readable() {
				steps = append(steps, p.choice(Lose, "d", i, on.replies[0].text, func() { w.lose(on) }))
			}
		}
	}
	for _, p := range alive {
		for i, r := range p.executable() {
			if !p.isStopped() && IsAcquire(r.Op) { // a full Redis lets a lock be freed
				steps = append(steps, p.choice(Refuse, "r", i, w.text(r), func() { w.refuse(r, BeforeCommand, outOfMemory) }))
			}
		}
	}
	for _, c := range w.calls {
		if p := c.Client.process; !c.over && IsAcquire(c.Op) && !p.isStopped() && c.ctx.Err() == nil {
			steps = append(steps, Choice{Token: "c" + strings.ToLower(c.Client.Name), Action: Leave, Client: p.name, What: c.Op, take: c.leave})
		}
	}
	return steps
}

// harmless adds the steps of a process that do no harm.
func (w *World) harmless(steps []Choice, p *process) []Choice {
	if p.isStopped() {
		return append(steps, p.choice(Thaw, "w", 0, "", func() { w.thaw(p) }))
	}
	if p.cut {
		return append(steps, p.choice(Heal, "h", 0, "", func() { w.heal(p) }))
	}
	for i, on := range p.readable() {
		read := p.choice(Deliver, "", i, on.replies[0].text, func() { w.deliver(on) })
		read.Token = strings.ToUpper(read.Token)
		steps = append(steps, read)
	}
	for i, r := range p.executable() {
		executed := p.choice(Execute, "", i, w.text(r), func() { w.execute(r) })
		if r.store != nil {
			executed.Op, executed.Order = r.Op, r.Args[1]
		}
		steps = append(steps, executed)
	}
	return steps
}

// choice is a step of a process, the i-th of its kind: the first one has no number.
func (p *process) choice(action Action, kind string, i int, what string, take func()) Choice {
	token := kind + strings.ToLower(p.name)
	if i > 0 {
		token += strconv.Itoa(i + 1)
	}
	return Choice{Token: token, Action: action, Client: p.name, What: what, take: take}
}

// executable are the requests of a process that may be executed next.
func (p *process) executable() (requests []*request) {
	for _, c := range p.wires {
		if len(c.requests) > 0 && !p.cut {
			requests = append(requests, c.requests[0])
		}
	}
	slices.SortStableFunc(requests, compareRequests)
	return requests
}

// text is a request as one would type it.
func (w *World) text(r *request) string {
	return strings.Join(w.names.command(r.Args, r.lane.Name), " ")
}

// readable are the wires of a process on which something waits to be read, the
// oldest first.
func (p *process) readable() (wires []*wire) {
	for _, c := range p.wires {
		if len(c.replies) > 0 && !p.cut {
			wires = append(wires, c)
		}
	}
	slices.SortFunc(wires, func(a, b *wire) int { return cmp.Compare(a.replies[0].seq, b.replies[0].seq) })
	return wires
}

// tick lets time pass until something happens that can be seen. A process that
// stands still only sends, and what it sends waits.
func (w *World) tick(end time.Duration) {
	for seen := len(w.trace.Events); w.Now() < end; {
		w.advance(w.start.Add(end))
		w.reached = w.Now()
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
	return slices.ContainsFunc(w.processes, func(p *process) bool { return p.name == name && p.isFrozen() })
}

// lose loses what waits to be read on a wire, and breaks it.
func (w *World) lose(on *wire) {
	if r := on.replies[0].request; r != nil {
		w.drop(r, AfterCommand)
		return
	}
	w.losePushes(on)
}

// Trace is what has happened so far.
func (w *World) Trace() *Trace { return w.trace }

// GiveUp records that the calls that are still under way are no longer waited for.
func (w *World) GiveUp() {
	for _, c := range w.calls {
		if !c.over && !c.Client.process.isStopped() {
			w.recordCall(Blocked, c, Event{Bound: w.horizon()})
		}
	}
}

// NextBy is when, at the latest, a Tick ends: the next lease that ends, or the end.
// A client's timer can end it sooner.
func (w *World) NextBy(end time.Duration) time.Duration {
	if at, ok := w.nextExpiry(); ok {
		end = min(end, at.Sub(w.start))
	}
	return end
}

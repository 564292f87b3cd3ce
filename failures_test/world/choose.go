package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/trace"
)

// Action is a kind of step that can be chosen.
type Action int

// The actions.
const (
	Execute Action = iota // Redis, or the ledger, runs what a client has sent
	Deliver               // a reply or a message reaches its client
	Tick                  // time passes until something else happens
	Crash                 // a process ends for good
	Freeze                // a process is paused
	Thaw                  // it continues
	Lose                  // a reply is lost, and its connection breaks
	Leave                 // a call's context is cancelled
	Refuse                // Redis answers a command with an error
	Heal                  // the network of a process is back
)

// Choice is a possible next step.
type Choice struct {
	// Token identifies the choice at this moment: a, a2 execute the commands that A sent; A, A2
	// deliver a reply to A; t lets time pass; xa crashes A, za freezes it, wa wakes it, da loses
	// its next reply, ha restores its network.
	Token  string
	Action Action
	Client string // the process's; "" of a Tick
	// Command or reply that the step executes, delivers or loses, as text.
	What string
	// Op and Order are set if the step executes a call to the ledger: Check or Insert, and the
	// order.
	Op, Order string

	take func()
}

// Take performs the step. [World.RunUntilIdle] then lets the clients react.
func (c Choice) Take() { c.take() }

// Choices returns the possible next steps: first execute, deliver and thaw, client by client, then
// a Tick while the time is before end, then the faults of each process that is alive.
func (w *World) Choices(end time.Duration) []Choice {
	steps := make([]Choice, 0, 16)
	alive := slices.DeleteFunc(slices.Clone(w.processes), func(p *Process) bool { return p.crashed })
	for _, p := range alive {
		steps = p.harmless(steps)
	}
	if w.Now() < end {
		steps = append(steps, Choice{Token: "t", Action: Tick, take: func() { w.tick(end) }})
	}
	for _, p := range alive {
		steps = append(steps, p.choice(Crash, "x", 0, "", func() { p.crash(trace.Event{}) }))
		if !p.isStopped() {
			steps = append(steps, p.choice(Freeze, "z", 0, "", func() { p.freeze(trace.Event{}) }))
			for i, on := range p.readable() {
				steps = append(steps, p.choice(Lose, "d", i, on.replies[0].text, func() { on.lose() }))
			}
		}
	}
	for _, p := range alive {
		for i, r := range p.executable() {
			if !p.isStopped() && trace.IsAcquire(r.Op) { // a full Redis lets a lock be freed
				steps = append(steps, p.choice(Refuse, "r", i, r.text(), func() { r.refuse(trace.BeforeCommand, outOfMemory) }))
			}
		}
	}
	for _, c := range w.calls {
		if p := c.Client.process; !c.over && trace.IsAcquire(c.Op) && !p.isStopped() && c.ctx.Err() == nil {
			steps = append(steps, Choice{Token: "c" + strings.ToLower(c.Client.Name), Action: Leave, Client: p.name, What: c.Op, take: c.leave})
		}
	}
	return steps
}

// harmless appends the steps of a process that are not faults.
func (p *Process) harmless(steps []Choice) []Choice {
	if p.isStopped() {
		return append(steps, p.choice(Thaw, "w", 0, "", func() { p.thaw() }))
	}
	if p.cut {
		return append(steps, p.choice(Heal, "h", 0, "", func() { p.heal() }))
	}
	for i, on := range p.readable() {
		read := p.choice(Deliver, "", i, on.replies[0].text, func() { on.deliver() })
		read.Token = strings.ToUpper(read.Token)
		steps = append(steps, read)
	}
	for i, r := range p.executable() {
		executed := p.choice(Execute, "", i, r.text(), func() { r.execute() })
		if r.store != nil {
			executed.Op, executed.Order = r.Op, r.Args[1]
		}
		steps = append(steps, executed)
	}
	return steps
}

// choice returns the i-th step of its kind of a process. The token of the first has no number.
func (p *Process) choice(action Action, kind string, i int, what string, take func()) Choice {
	token := kind + strings.ToLower(p.name)
	if i > 0 {
		token += strconv.Itoa(i + 1)
	}
	return Choice{Token: token, Action: action, Client: p.name, What: what, take: take}
}

// executable returns the requests of a process that can be executed next.
func (p *Process) executable() (requests []*request) {
	for _, c := range p.wires {
		if len(c.requests) > 0 && !p.cut && !(c.requests[0].waiting && c.requests[0].waits()) {
			requests = append(requests, c.requests[0])
		}
	}
	slices.SortStableFunc(requests, compareRequests)
	return requests
}

// readable returns the wires of a process with an unread reply, the oldest reply first.
func (p *Process) readable() (wires []*wire) {
	for _, c := range p.wires {
		if len(c.replies) > 0 && !p.cut {
			wires = append(wires, c)
		}
	}
	slices.SortFunc(wires, func(a, b *wire) int { return cmp.Compare(a.replies[0].seq, b.replies[0].seq) })
	return wires
}

// tick lets time pass until the next visible event. What a frozen process sends does not count: it
// waits.
func (w *World) tick(end time.Duration) {
	for seen := len(w.trace.Events); w.Now() < end; {
		w.advance(w.start.Add(end))
		w.reached = w.Now()
		w.lapse()
		w.catchUp()
		w.RunUntilIdle()
		for ; seen < len(w.trace.Events); seen++ {
			if e := w.trace.Events[seen]; e.Kind != trace.Sent || !w.isFrozen(e.Process) {
				return
			}
		}
	}
}

func (w *World) isFrozen(name string) bool {
	return slices.ContainsFunc(w.processes, func(p *Process) bool { return p.name == name && p.isFrozen() })
}

// lose drops the next reply of a wire and breaks the connection.
func (w *wire) lose() {
	if r := w.replies[0].request; r != nil {
		r.drop(trace.AfterCommand)
		return
	}
	w.losePushes()
}

// Trace returns the trace so far.
func (w *World) Trace() *trace.Trace { return w.trace }

// GiveUp records the calls that are still under way as blocked.
func (w *World) GiveUp() {
	for _, c := range w.calls {
		if !c.over && !c.Client.process.isStopped() {
			c.record(trace.Blocked, trace.Event{Bound: w.horizon()})
		}
	}
}

// NextBy returns the latest end of a Tick: when the next lease ends, or end. A client's timer can
// end it sooner.
func (w *World) NextBy(end time.Duration) time.Duration {
	return w.nextExpiry(w.start.Add(end)).Sub(w.start)
}

// Observe starts to record what [World.Digest] needs.
func (w *World) Observe() { w.observer = &observer{seen: map[string]digest{}} }

// Digest returns a hash of the run's state and of more: runs with equal digests continue equally.
func (w *World) Digest(more ...string) uint64 {
	d := w.observer.foreign.add(more...).add(strconv.FormatInt(int64(w.Now()), 36), strconv.FormatInt(w.server.Now().UnixNano(), 36))
	for _, k := range w.allKeys() {
		d = d.add(k.Name, k.Type, k.Value(), k.Owner.Label, strconv.FormatInt(int64(k.TTL), 36))
	}
	for _, o := range w.ledger.orders {
		d = d.add(o.Name, o.Client, strconv.FormatInt(o.Token, 36))
	}
	for _, r := range w.replicas {
		d = d.add(strconv.Itoa(w.offset-r.has.offset), strconv.Itoa(len(r.coming)))
	}
	d = d.add(strconv.FormatInt(w.ledger.highest, 36), w.ledger.holder)
	if len(w.ledger.open)+len(w.ledger.read) > 0 {
		d = d.add(fmt.Sprint(w.ledger.open, w.ledger.read))
	}
	for _, name := range slices.Sorted(maps.Keys(w.observer.seen)) {
		d = d.add(name, strconv.FormatUint(uint64(w.observer.seen[name]), 36))
	}
	for _, p := range w.processes {
		var waiting []string
		for _, c := range p.wires {
			if len(c.requests) == 0 && len(c.replies) == 0 {
				continue
			}
			on := ""
			for _, r := range c.requests {
				on += "<" + r.order + r.Op + strconv.Itoa(r.callID())
			}
			for _, r := range c.replies {
				on += ">" + r.text
			}
			waiting = append(waiting, on)
		}
		slices.Sort(waiting)
		d = d.add(p.name, strconv.FormatBool(p.isFrozen()), strconv.FormatBool(p.crashed)).add(waiting...)
	}
	return uint64(d)
}

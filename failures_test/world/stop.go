package world

import (
	"time"
)

// Freeze stops the client's whole process now, as SIGSTOP does: what it sends
// waits, what it is sent stays unread, and the deadlines on its connections stand
// still. Its timers run, but what they send waits too. Only what go-redis says on a
// new connection is answered, since that decides nothing.
func (c *Client) Freeze() {
	c.world.settle()
	c.world.freeze(c.process, Event{})
}

func (w *World) freeze(p *process, e Event) {
	if !p.isStopped() {
		w.stop(Frozen, p, e)
	}
}

// stop keeps everything of a process from running.
func (w *World) stop(kind Kind, p *process, e Event) {
	p.stoppedAt = time.Now()
	p.stopped.Store(true)
	w.recordProcess(kind, p, e)
}

// recordProcess records an event about a whole process.
func (w *World) recordProcess(kind Kind, p *process, e Event) {
	e.Kind, e.Client, e.Process = kind, p.lanes[0].Name, p.name
	w.record(e)
}

// Thaw lets the process go on where it stopped. One that did not stop goes on anyway.
func (c *Client) Thaw() {
	if c.process.isFrozen() {
		c.world.thaw(c.process)
		c.world.settle()
	}
}

func (w *World) thaw(p *process) {
	w.recordProcess(Thawed, p, Event{})
	p.goOn()
}

// goOn ends a standstill: the deadlines on its connections move by as long as it lasted.
func (p *process) goOn() {
	p.stopped.Store(false)
	now := time.Now()
	for _, wire := range p.wires {
		wire.shiftDeadline(p.stoppedAt, now)
	}
}

// Crash ends the process now: nothing of it runs again.
func (c *Client) Crash() {
	c.world.settle()
	c.world.crash(c.process, Event{})
}

func (w *World) crash(p *process, e Event) {
	p.crashed = true
	w.stop(Crashed, p, e)
}

// Cut takes the process's network away: nothing arrives on either side, and its
// timeouts run.
func (c *Client) Cut() {
	w := c.world
	w.settle()
	w.mu.Lock()
	c.process.cut = true
	w.mu.Unlock()
	w.recordProcess(Cut, c.process, Event{})
}

// Heal gives the network back. What waited on open connections arrives now.
func (c *Client) Heal() {
	c.world.heal(c.process)
	c.world.settle()
}

func (w *World) heal(p *process) {
	w.recordProcess(Healed, p, Event{})
	w.mu.Lock()
	defer w.mu.Unlock()
	p.cut = false
	close(p.healed)
	p.healed = make(chan struct{})
}

// release lifts whatever holds a process, so that it can end.
func (w *World) release(p *process) {
	if p.cut {
		w.heal(p)
	}
	if p.isStopped() {
		p.crashed = false
		p.goOn()
	}
}

// refuse answers a request with an error in place of Redis, which has executed it or does
// not get it.
func (w *World) refuse(r *request, at Moment, text string) {
	var rep *reply
	if at == AfterCommand {
		rep = r.wire.newest()
	} else {
		w.take(r)
		if r.Name == "EXEC" { // the refused client has no transaction any more
			_, _ = r.wire.link.Execute([]string{"DISCARD"})
		}
		rep = w.newReply(r, nil, "")
	}
	rep.raw, rep.text = []byte("-"+text+"\r\n"), "(error) "+text
	w.recordRequest(Refused, r, Event{Reply: rep.text})
}

// newest is the reply that comes last.
func (w *wire) newest() *reply { return w.replies[len(w.replies)-1] }

// drop loses a request or its reply and breaks the connection.
func (w *World) drop(r *request, at Moment) {
	w.recordRequest(Dropped, r, Event{Moment: at})
	w.breakWire(r.wire)
}

func (w *World) breakWire(c *wire) {
	c.requests, c.replies = nil, nil
	c.hangUp(errLost)
}

// delay keeps a request, or its reply, in the network for d.
func (w *World) delay(r *request, at Moment, d time.Duration) {
	if at == BeforeCommand {
		r.due = w.Now() + d
	} else {
		r.wire.newest().due = w.Now() + d
	}
	w.recordRequest(Delayed, r, Event{Moment: at, Bound: d})
}

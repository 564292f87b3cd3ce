package world

import (
	"time"

	"lockkata/failures_test/trace"
)

// Freeze pauses the client's whole process, as SIGSTOP does: its requests wait, its replies stay
// unread, and the deadlines of its connections pause. Its goroutines and timers still run, but what
// they send waits too. Only handshakes are answered, because they have no effect on the lock.
func (c *Client) Freeze() {
	c.world.settle()
	c.world.freeze(c.process, trace.Event{})
}

func (w *World) freeze(p *process, e trace.Event) {
	if !p.isStopped() {
		w.stop(trace.Frozen, p, e)
	}
}

// stop stops a process and records it.
func (w *World) stop(kind trace.Kind, p *process, e trace.Event) {
	p.stoppedAt = time.Now()
	p.stopped.Store(true)
	w.recordProcess(kind, p, e)
}

func (w *World) recordProcess(kind trace.Kind, p *process, e trace.Event) {
	e.Kind, e.Client, e.Process = kind, p.lanes[0].Name, p.name
	w.record(e)
}

// Thaw resumes the process. It does nothing if the process is not frozen.
func (c *Client) Thaw() {
	if c.process.isFrozen() {
		c.world.thaw(c.process)
		c.world.settle()
	}
}

func (w *World) thaw(p *process) {
	w.recordProcess(trace.Thawed, p, trace.Event{})
	p.goOn()
}

// goOn resumes a process: the deadlines of its connections move by the length of the pause.
func (p *process) goOn() {
	p.stopped.Store(false)
	now := time.Now()
	for _, wire := range p.wires {
		wire.shiftDeadline(p.stoppedAt, now)
	}
}

// Crash kills the process.
func (c *Client) Crash() {
	c.world.settle()
	c.world.crash(c.process, trace.Event{})
}

func (w *World) crash(p *process, e trace.Event) {
	p.crashed = true
	w.stop(trace.Crashed, p, e)
}

// Cut disconnects the process from the network: nothing arrives on either side, and its timeouts
// run.
func (c *Client) Cut() {
	w := c.world
	w.settle()
	w.mu.Lock()
	c.process.cut = true
	w.mu.Unlock()
	w.recordProcess(trace.Cut, c.process, trace.Event{})
}

// Heal reconnects the process. Data that waited on open connections arrives now.
func (c *Client) Heal() {
	c.world.heal(c.process)
	c.world.settle()
}

func (w *World) heal(p *process) {
	w.recordProcess(trace.Healed, p, trace.Event{})
	w.mu.Lock()
	defer w.mu.Unlock()
	p.cut = false
	close(p.healed)
	p.healed = make(chan struct{})
}

// release ends the faults of a process, so that its goroutines can end.
func (w *World) release(p *process) {
	if p.cut {
		w.heal(p)
	}
	if p.isStopped() {
		p.crashed = false
		p.goOn()
	}
}

// refuse answers a request with an error instead of executing it, or replaces its reply by the
// error.
func (w *World) refuse(r *request, at trace.Moment, text string) {
	var rep *reply
	if at == trace.AfterCommand {
		rep = r.wire.newest()
	} else {
		w.take(r)
		if r.Name == "EXEC" { // a refused EXEC ends the transaction
			_, _ = r.wire.link.Execute([]string{"DISCARD"})
		}
		rep = w.newReply(r, nil, "")
	}
	rep.raw, rep.text = []byte("-"+text+"\r\n"), "(error) "+text
	w.recordRequest(trace.Refused, r, trace.Event{Reply: rep.text})
}

func (w *wire) newest() *reply { return w.replies[len(w.replies)-1] }

// drop drops a request or its reply and breaks the connection.
func (w *World) drop(r *request, at trace.Moment) {
	w.recordRequest(trace.Dropped, r, trace.Event{Moment: at})
	w.breakWire(r.wire)
}

func (w *World) breakWire(c *wire) {
	c.requests, c.replies = nil, nil
	c.hangUp(errLost)
}

// delay delays a request or its reply by d.
func (w *World) delay(r *request, at trace.Moment, d time.Duration) {
	if at == trace.BeforeCommand {
		r.due = w.Now() + d
	} else {
		r.wire.newest().due = w.Now() + d
	}
	w.recordRequest(trace.Delayed, r, trace.Event{Moment: at, Bound: d})
}

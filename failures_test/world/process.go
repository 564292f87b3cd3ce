package world

import (
	"reflect"
	"time"

	"lockkata/failures_test/trace"
)

// freeze pauses the process; e has the command at which it happens.
func (p *Process) freeze(e trace.Event) {
	if !p.isStopped() {
		p.stop(trace.Frozen, e)
	}
}

// stop stops a process and records it.
func (p *Process) stop(kind trace.Kind, e trace.Event) {
	p.stoppedAt = time.Now()
	p.stopped.Store(true)
	if d, ok := p.driver.(Halting); ok && kind == trace.Crashed {
		d.Crash()
	} else if ok {
		d.Freeze()
	}
	p.record(kind, e)
}

func (p *Process) thaw() {
	p.record(trace.Thawed, trace.Event{})
	p.goOn()
}

// goOn resumes a process: the deadlines of its connections move by the length of the pause.
func (p *Process) goOn() {
	p.stopped.Store(false)
	if d, ok := p.driver.(Halting); ok {
		d.Thaw()
	}
	now := time.Now()
	for _, wire := range p.wires {
		wire.shiftDeadline(p.stoppedAt, now)
	}
}

// crash ends the process for good; e has the command at which it happens.
func (p *Process) crash(e trace.Event) {
	p.crashed = true
	p.stop(trace.Crashed, e)
}

// cutOff takes the network away.
func (p *Process) cutOff() {
	p.world.mu.Lock()
	p.cut = true
	p.world.mu.Unlock()
	p.record(trace.Cut, trace.Event{})
}

func (p *Process) heal() {
	p.record(trace.Healed, trace.Event{})
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.cut = false
	close(p.healed)
	p.healed = make(chan struct{})
}

// release ends the faults of a process, so that its goroutines can end.
func (p *Process) release() {
	if p.cut {
		p.heal()
	}
	if p.isStopped() {
		p.crashed = false
		p.goOn()
	}
}

// listens returns how many open connections are subscribed.
func (p *Process) listens() (n int) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	for _, wire := range p.wires {
		if wire.subscribed && !wire.closed {
			n++
		}
	}
	return n
}

// newLock returns the lock of those names: one, or two of which the first is taken first.
func (p *Process) newLock(names []string) (Locker, error) {
	c := p.world.config
	first, err := c.New(p, names[0], c.Lease)
	if err != nil || len(names) == 1 {
		return first, err
	}
	second, err := c.New(p, names[1], c.Lease)
	return c.Around(first, second), err
}

func isNil(locker Locker) bool {
	made := reflect.ValueOf(locker)
	return locker == nil || made.Kind() == reflect.Pointer && made.IsNil()
}

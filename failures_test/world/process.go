package world

import (
	"context"
	"math/rand/v2"
	"net"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockkata/failures_test/trace"
)

// freeze pauses the process; e has the command at which it happens.
func (p *process) freeze(e trace.Event) {
	if !p.isStopped() {
		p.stop(trace.Frozen, e)
	}
}

// stop stops a process and records it.
func (p *process) stop(kind trace.Kind, e trace.Event) {
	p.stoppedAt = time.Now()
	p.stopped.Store(true)
	p.record(kind, e)
}

func (p *process) thaw() {
	p.record(trace.Thawed, trace.Event{})
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

// crash ends the process for good; e has the command at which it happens.
func (p *process) crash(e trace.Event) {
	p.crashed = true
	p.stop(trace.Crashed, e)
}

// cutOff takes the network away.
func (p *process) cutOff() {
	p.world.mu.Lock()
	p.cut = true
	p.world.mu.Unlock()
	p.record(trace.Cut, trace.Event{})
}

func (p *process) heal() {
	p.record(trace.Healed, trace.Event{})
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.cut = false
	close(p.healed)
	p.healed = make(chan struct{})
}

// release ends the faults of a process, so that its goroutines can end.
func (p *process) release() {
	if p.cut {
		p.heal()
	}
	if p.isStopped() {
		p.crashed = false
		p.goOn()
	}
}

// listens returns how many open connections are subscribed.
func (p *process) listens() (n int) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	for _, wire := range p.wires {
		if wire.subscribed && !wire.closed {
			n++
		}
	}
	return n
}

// connect returns a go-redis client for a server, with changed options.
func (p *process) connect(to *Node, change ...func(*redis.Options)) *redis.Client {
	w := p.world
	options := &redis.Options{
		Addr:                  "127.0.0.1:6379",
		Protocol:              2,
		DisableIdentity:       true,
		MaxRetries:            -1,
		PoolSize:              16,
		ReadBufferSize:        512,
		WriteBufferSize:       512,
		ContextTimeoutEnabled: true,
		// Maintenance notifications look up host names, which does not work in a bubble.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx, to) },
	}
	if w.config.Client != nil {
		w.config.Client(options)
	}
	for _, f := range change {
		f(options)
	}
	w.clock.Timeouts(options, w.Lease)
	return redis.NewClient(options)
}

// newLock returns the lock of those names: one, or two of which the first is taken first.
func (p *process) newLock(names []string) (Locker, error) {
	c := p.world.config
	if c.NewOver != nil {
		var nodes []redis.UniversalClient
		for _, rdb := range p.rdbs {
			nodes = append(nodes, rdb)
		}
		return c.NewOver(nodes, names[0], c.Lease, rand.NewPCG(0, uint64(p.index)))
	}
	first, err := c.New(p.rdbs[0], names[0], c.Lease)
	if err != nil || len(names) == 1 {
		return first, err
	}
	second, err := c.New(p.rdbs[0], names[1], c.Lease)
	return c.Around(first, second), err
}

func isNil(locker Locker) bool {
	made := reflect.ValueOf(locker)
	return locker == nil || made.Kind() == reflect.Pointer && made.IsNil()
}

// dial opens a wire. While the process has no network it waits, as after a lost SYN.
func (p *process) dial(ctx context.Context, to *Node) (net.Conn, error) {
	w := p.world
	for {
		w.mu.Lock()
		cut, healed := p.cut, p.healed
		if !cut {
			c := newWire(p, to)
			p.opened = append(p.opened, c)
			w.mu.Unlock()
			return c, nil
		}
		w.mu.Unlock()
		select {
		case <-healed:
		case <-ctx.Done():
			return nil, &net.OpError{Op: "dial", Net: "world", Err: ctx.Err()}
		}
	}
}

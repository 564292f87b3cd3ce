package world

import (
	"slices"
	"sync/atomic"
	"time"

	"lockkata/failures_test/trace"
)

// Client starts a process with one client.
func (w *World) Client(name string) *Client { return w.ClientOf(name, w.Lock) }

// ClientOf is [World.Client] with a lock of another name, or with two that the client takes one after
// the other; see [Config.Around].
func (w *World) ClientOf(name string, locks ...string) *Client {
	c := w.newProcess(name, w.nodes)
	c.construct(locks)
	return c
}

// newProcess starts a process, without a lock and connections.
func (w *World) newProcess(name string, nodes []*Node) *Client {
	p := &Process{world: w, name: name, nodes: nodes, index: len(w.processes), healed: make(chan struct{}), running: map[uint64]*Call{}}
	w.processes = append(w.processes, p)
	return p.client(name)
}

// construct creates the lock object of a client. The constructor may send commands, such as SUBSCRIBE.
func (c *Client) construct(locks []string) {
	p, w := c.process, c.world
	if !slices.Equal(locks, []string{w.Lock}) {
		w.trace.OtherLocks[c.Name] = locks
	}
	var locker Locker
	var err error
	var panicks any
	var done atomic.Bool
	go func() {
		defer func() { panicks = recover(); done.Store(true); notify(w.wake) }()
		locker, err = p.newLock(locks)
	}()
	switch {
	case !w.until(time.Now().Add(w.horizon()), done.Load):
		fail("%s gets no lock: its constructor does not return", c.Name)
	case panicks != nil:
		panic(panicks)
	case err != nil:
		fail("%s gets no lock: %w", c.Name, err)
	case isNil(locker):
		fail("%s gets no lock: the constructor returns neither a lock nor an error", c.Name)
	}
	c.locker, p.lockers = locker, append(p.lockers, locker)
}

// Clients starts one process for each name.
func (w *World) Clients(a, b, c string) (*Client, *Client, *Client) {
	return w.Client(a), w.Client(b), w.Client(c)
}

// Listens returns how many open connections of the client's process are subscribed.
func (c *Client) Listens() int { return c.process.listens() }

// Goroutine returns another client in the same process, with the same lock object.
func (c *Client) Goroutine(name string) *Client {
	g := c.process.client(name)
	g.locker = c.locker
	return g
}

// Sibling returns another client in the same process, with a lock object of its own. The lock has the same name, and
// both objects use the connections of the process.
func (c *Client) Sibling(name string) *Client {
	s := c.process.client(name)
	s.construct([]string{c.world.Lock})
	return s
}

// client adds a client to the process.
func (p *Process) client(name string) *Client {
	w := p.world
	if slices.Contains(w.trace.Clients, name) {
		fail("there is already a client named %s", name)
	}
	c := &Client{Name: name, Request: "r1", index: len(w.trace.Clients), process: p, world: w}
	p.clients = append(p.clients, c)
	w.trace.Clients = append(w.trace.Clients, name)
	return c
}

// Freeze pauses the client's whole process, as SIGSTOP does: its requests wait, its replies stay
// unread, and the deadlines of its connections pause. Its goroutines and timers still run, but what
// they send waits too. Only handshakes are answered, because they have no effect on the lock.
func (c *Client) Freeze() {
	c.world.settle()
	c.process.freeze(trace.Event{})
}

// Thaw resumes the process. It does nothing if the process is not frozen.
func (c *Client) Thaw() {
	if c.process.isFrozen() {
		c.process.thaw()
		c.world.settle()
	}
}

// Crash kills the process.
func (c *Client) Crash() {
	c.world.settle()
	c.process.crash(trace.Event{})
}

// Cut disconnects the process from the network: nothing arrives on either side, and its timeouts
// run.
func (c *Client) Cut() {
	c.world.settle()
	c.process.cutOff()
}

// Heal reconnects the process. Data that waited on open connections arrives now.
func (c *Client) Heal() {
	c.process.heal()
	c.world.settle()
}

// BreakSubscriptions breaks the process's connections that have subscriptions. Messages that it has
// not read are lost. No time passes: use Cut before and Heal after it so that a message is lost on
// its way. Each connection breaks when the process has handled the one before, because go-redis
// subscribes again in any order.
func (c *Client) BreakSubscriptions() {
	for _, wire := range slices.Clone(c.process.wires) {
		if wire.subscribed {
			wire.losePushes()
			c.world.settle()
		}
	}
}

// LoseSubscriptions makes Redis forget the process's subscriptions while the connections stay open,
// so no messages and no errors arrive. A firewall does that to idle connections.
func (c *Client) LoseSubscriptions() {
	for _, wire := range c.process.wires {
		if wire.subscribed {
			wire.unsubscribe()
			wire.node.disturb(trace.Event{Fault: trace.SubscriptionLost})
		}
	}
}

// Actors returns the clients, those made by [Client.Goroutine] included.
func (w *World) Actors() (all []*Client) {
	for _, p := range w.processes {
		all = append(all, p.clients...)
	}
	return all
}

// IsStopped reports whether the client's process is paused or dead.
func (c *Client) IsStopped() bool { return c.process.isStopped() }

// LastCall returns the client's last call; nil if it has begun none.
func (c *Client) LastCall() *Call {
	for _, call := range slices.Backward(c.world.calls) {
		if call.Client == c {
			return call
		}
	}
	return nil
}

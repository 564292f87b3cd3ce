package world

import (
	"context"
	"math/rand/v2"
	"net"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// process is one operating-system process: a go-redis client and a lock object that its goroutines
// share. It freezes, crashes and loses its network as a whole.
type process struct {
	world     *World
	name      string
	index     int
	rdbs      []*redis.Client // one for each server
	locker    Locker
	lanes     []*Client
	running   map[uint64]*Call // goroutine → the call it runs; guarded by world.mu
	delegates map[uint64]*Call // goroutine → the call whose commands it sends, see [Delegate]
	opened    []*wire          // just dialled; guarded by world.mu
	wires     []*wire
	faults    []*Fault
	crashed   bool
	cut       bool
	healed    chan struct{} // closed when the network is back
	stopped   atomic.Bool   // frozen or crashed; the client's goroutines read it too
	stoppedAt time.Time
	second    time.Duration // of its newest command
	sent      int           // how many it has sent in that second
}

func (p *process) isStopped() bool { return p.stopped.Load() }

func (p *process) isFrozen() bool { return p.isStopped() && !p.crashed }

// Client is one goroutine of a process, with its own lane in the picture.
type Client struct {
	Name    string
	index   int
	process *process
	world   *World
}

// Client starts a process with one client.
func (w *World) Client(name string) *Client { return w.ClientOf(name, w.Lock) }

// ClientOf is [World.Client] with a lock of another name.
func (w *World) ClientOf(name, lock string) *Client {
	p := &process{world: w, name: name, index: len(w.processes), healed: make(chan struct{}), running: map[uint64]*Call{}, delegates: map[uint64]*Call{}}
	for _, node := range w.nodes {
		p.rdbs = append(p.rdbs, p.connect(node))
	}
	w.processes = append(w.processes, p)
	c := w.lane(p, name)
	if lock != w.Lock {
		w.trace.Others[name] = lock
	}
	w.construct(p, lock)
	return c
}

// connect returns a go-redis client for a server.
func (p *process) connect(to *Node) *redis.Client {
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
	w.clock.Timeouts(options, w.Lease)
	return redis.NewClient(options)
}

// construct creates the lock of a process. The constructor may send commands, such as SUBSCRIBE.
func (w *World) construct(p *process, lock string) {
	var locker Locker
	var err error
	var panicks any
	var done atomic.Bool
	go func() {
		defer func() { panicks = recover(); done.Store(true); notify(w.wake) }()
		locker, err = p.newLock(lock)
	}()
	switch {
	case !w.until(time.Now().Add(w.horizon()), done.Load):
		fail("%s gets no lock: its constructor does not return", p.name)
	case panicks != nil:
		panic(panicks)
	case err != nil:
		fail("%s gets no lock: %v", p.name, err)
	case isNil(locker):
		fail("%s gets no lock: the constructor returns neither a lock nor an error", p.name)
	}
	p.locker = locker
}

func isNil(locker Locker) bool {
	made := reflect.ValueOf(locker)
	return locker == nil || made.Kind() == reflect.Pointer && made.IsNil()
}

func (p *process) newLock(name string) (Locker, error) {
	c := p.world.config
	if c.NewOver == nil {
		return c.New(p.rdbs[0], name, c.Lease)
	}
	var nodes []redis.UniversalClient
	for _, rdb := range p.rdbs {
		nodes = append(nodes, rdb)
	}
	return c.NewOver(nodes, name, c.Lease, rand.NewPCG(0, uint64(p.index)))
}

// Clients starts one process for each name.
func (w *World) Clients(a, b, c string) (*Client, *Client, *Client) {
	return w.Client(a), w.Client(b), w.Client(c)
}

// Listens returns how many open connections of the client's process are subscribed.
func (c *Client) Listens() (n int) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	for _, wire := range c.process.wires {
		if wire.subscribed && !wire.closed {
			n++
		}
	}
	return n
}

// Goroutine returns another client in the same process, with the same lock object.
func (c *Client) Goroutine(name string) *Client { return c.world.lane(c.process, name) }

func (w *World) lane(p *process, name string) *Client {
	if slices.Contains(w.trace.Lanes, name) {
		fail("there is already a client named %s", name)
	}
	c := &Client{Name: name, index: len(w.trace.Lanes), process: p, world: w}
	p.lanes = append(p.lanes, c)
	w.trace.Lanes = append(w.trace.Lanes, name)
	return c
}

// DefaultRetries sets the retries that go-redis has by default: three after a broken connection. It
// leaves out the pauses between them, because they are random.
func DefaultRetries(o *redis.Options) {
	o.MaxRetries = 3
	o.MinRetryBackoff, o.MaxRetryBackoff = -1, -1
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

// wasCrowded reports whether a goroutine has waited for a connection of a full pool.
func (w *World) wasCrowded() bool {
	return slices.ContainsFunc(w.processes, func(p *process) bool {
		return slices.ContainsFunc(p.rdbs, func(rdb *redis.Client) bool {
			stats := rdb.PoolStats()
			return stats.WaitCount > 0 || stats.Timeouts > 0
		})
	})
}

// ForgetTimers empties the sync.Pool in which go-redis keeps timers for waiting on a full pool: a
// timer of this bubble would panic in the next one. It takes two collections to empty a sync.Pool.
func ForgetTimers() {
	runtime.GC()
	runtime.GC()
}

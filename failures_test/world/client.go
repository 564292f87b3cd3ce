package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// process is one operating-system process: a go-redis client and a lock object,
// which its goroutines share. It freezes, crashes and loses its network as one.
type process struct {
	world     *World
	name      string
	index     int
	rdb       *redis.Client
	locker    Locker
	lanes     []*Client
	running   map[uint64]*Call // goroutine → the call it runs; guarded by world.mu
	opened    []*wire          // just dialled; guarded by world.mu
	wires     []*wire
	rules     []*rule
	frozen    bool
	crashed   bool
	cut       bool
	healed    chan struct{} // closed when the network is back
	stopped   atomic.Bool   // frozen or crashed, for the goroutines of the client
	stoppedAt time.Time
}

func (p *process) isStopped() bool { return p.stopped.Load() }

// Client is one actor of a scenario: a goroutine of a process, with a lane of its
// own in the picture.
type Client struct {
	Name    string
	index   int
	process *process
	world   *World
}

// Client starts a process with one actor.
func (w *World) Client(name string) *Client {
	p := &process{world: w, name: name, index: len(w.processes), healed: make(chan struct{}), running: map[uint64]*Call{}}
	options := &redis.Options{
		Addr:                  "127.0.0.1:6379",
		Protocol:              2,
		DisableIdentity:       true,
		MaxRetries:            -1,
		PoolSize:              16,
		ReadBufferSize:        1024,
		WriteBufferSize:       1024,
		ContextTimeoutEnabled: true,
		// Maintenance notifications look up host names, which no bubble survives.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   p.dial,
	}
	if w.config.Client != nil {
		w.config.Client(options)
	}
	w.tempo.timeouts(options, w.Lease)
	p.rdb = redis.NewClient(options)
	w.processes = append(w.processes, p)
	c := w.lane(p, name)
	locker, err := w.config.New(p.rdb, w.Lock, w.Lease)
	if err != nil {
		fail("%s gets no lock: %v", name, err)
	}
	p.locker = locker
	return c
}

// Clients starts one process for each name.
func (w *World) Clients(a, b, c string) (*Client, *Client, *Client) {
	return w.Client(a), w.Client(b), w.Client(c)
}

// Goroutine is another actor in the same process, with the same lock object.
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

// DefaultRetries gives clients what go-redis does by itself when nobody sets
// anything: three more attempts after a broken connection. The pause between
// them is left out, since it is random.
func DefaultRetries(o *redis.Options) {
	o.MaxRetries = 3
	o.MinRetryBackoff, o.MaxRetryBackoff = -1, -1
}

// IgnoreContexts gives clients go-redis's default: the deadline of a context does
// not end a command that is on its way.
func IgnoreContexts(o *redis.Options) { o.ContextTimeoutEnabled = false }

// dial opens a wire. Without a network it waits, as a lost SYN does.
func (p *process) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	w := p.world
	for {
		w.mu.Lock()
		cut, healed := p.cut, p.healed
		if !cut {
			c := newWire(p)
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

// The operations a call can be.
const (
	OpLock    = "Lock"
	OpTryLock = "TryLock"
	OpUnlock  = "Unlock"
	OpForce   = "ForceUnlock"
	OpCount   = "HoldCount"
	OpRun     = "Run" // a command of the business's own, on the same client
	OpCheck   = "Check"
	OpInsert  = "Insert"
)

// Call is one operation of a client, under way or over.
type Call struct {
	ID     int
	Client *Client
	Op     string

	bound  time.Duration
	alone  bool // no other call of its process was under way, and it has done nothing yet
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	result Result
	answer string // of the ledger
	over   bool
}

// Held tells whether the call is over and gave its caller the lock.
func (c *Call) Held() bool { return c.over && c.result.Held }

// Over tells whether the call has come back.
func (c *Call) Over() bool { return c.over }

// Answer is what the ledger said.
func (c *Call) Answer() string { return c.answer }

// Option changes a call.
type Option func(*Call)

// Within gives the call's context a deadline.
func Within(d time.Duration) Option {
	return func(c *Call) {
		c.cancel()
		c.bound = d
		c.ctx, c.cancel = context.WithTimeout(c.Client.context(), d)
	}
}

// Done gives the call a context that is already cancelled.
func Done() Option { return func(c *Call) { c.cancel() } }

// Lock waits for the lock until the client holds it, is stopped by a fault, or
// the horizon is reached.
func (c *Client) Lock(options ...Option) *Call { return c.StartLock(options...).Wait() }

// TryLock makes one attempt.
func (c *Client) TryLock(options ...Option) *Call {
	return c.begin(OpTryLock, options, func(ctx context.Context) (Result, error) {
		held, err := c.process.locker.TryLock(ctx)
		return Result{Held: held}, err
	}).Wait()
}

// Unlock frees the lock.
func (c *Client) Unlock(options ...Option) *Call { return c.StartUnlock(options...).Wait() }

// StartLock begins a Lock and does not wait for it.
func (c *Client) StartLock(options ...Option) *Call {
	return c.begin(OpLock, options, func(ctx context.Context) (Result, error) {
		return Result{Held: true}, c.process.locker.Lock(ctx)
	})
}

// StartUnlock begins an Unlock and does not wait for it.
func (c *Client) StartUnlock(options ...Option) *Call {
	return c.begin(OpUnlock, options, func(ctx context.Context) (Result, error) {
		return Result{Claim: ClaimDone}, c.process.locker.Unlock(ctx)
	})
}

// ForceUnlock frees the lock from outside, whoever holds it.
func (c *Client) ForceUnlock() *Call {
	forcing, ok := c.process.locker.(Forcing)
	if !ok {
		fail("the lock of %s cannot be forced: it is no world.Forcing", c.Name)
	}
	return c.begin(OpForce, nil, func(ctx context.Context) (Result, error) {
		freed, err := forcing.ForceUnlock(ctx)
		if freed {
			return Result{Claim: ClaimDone}, err
		}
		return Result{Claim: ClaimRefused}, err
	}).Wait()
}

// HoldCount asks how often the client holds the lock.
func (c *Client) HoldCount() *Call {
	counting, ok := c.process.locker.(Counting)
	if !ok {
		fail("the lock of %s does not count: it is no world.Counting", c.Name)
	}
	return c.begin(OpCount, nil, func(ctx context.Context) (Result, error) {
		n, err := counting.HoldCount(ctx)
		return Result{Count: n, Claim: ClaimDone}, err
	}).Wait()
}

// StartRun sends a command of the business's own through the process's client,
// and does not wait for it.
func (c *Client) StartRun(args ...any) *Call {
	return c.begin(OpRun, nil, func(ctx context.Context) (Result, error) {
		return Result{Claim: ClaimDone}, c.process.rdb.Do(ctx, args...).Err()
	})
}

// Count is what HoldCount answered.
func (c *Call) Count() int { return c.result.Count }

// Check asks the ledger whether an order's name is free.
func (c *Client) Check(order string) *Call {
	return c.storeCall(OpCheck, order, func() string { return c.world.ledger.check(order) })
}

// Insert writes an order into the ledger, with the token of the client's hold if
// its lock has one. The token is taken when the client begins to write.
func (c *Client) Insert(order string) *Call {
	row := Order{Name: order, Client: c.Name}
	if fenced, ok := c.process.locker.(Fenced); ok {
		row.Token = fenced.Token(c.context())
	}
	return c.storeCall(OpInsert, order, func() string { return c.world.ledger.insert(row) })
}

// begin starts a call on a goroutine of its own.
func (c *Client) begin(op string, options []Option, do action) *Call {
	call := c.newCall(op, options)
	w := c.world
	w.record(Event{Kind: Called, Client: c.Name, Process: c.process.name, Call: call.ID, Op: op, Bound: call.bound})
	call.began = time.Now()
	go call.run(do)
	return call
}

// action is what a call does. Without an error it says in its result what it did.
type action func(context.Context) (Result, error)

type laneKey struct{}

// Lane tells on whose behalf a lock is called: the name of the client whose call
// has this context, or one made from it.
func Lane(ctx context.Context) string {
	name, _ := ctx.Value(laneKey{}).(string)
	return name
}

// context is what each of the client's calls gets, or makes its own from.
func (c *Client) context() context.Context {
	return context.WithValue(c.world.ctx, laneKey{}, c.Name)
}

// callEntry is where the goroutine of every call begins.
var callEntry atomic.Uintptr

// run is the goroutine of a call.
func (c *Call) run(do action) {
	if callEntry.Load() == 0 {
		pc, _, _, _ := runtime.Caller(0)
		callEntry.Store(runtime.FuncForPC(pc).Entry())
	}
	w, p, id := c.Client.world, c.Client.process, goroutineID()
	w.mu.Lock()
	p.running[id] = c
	c.alone = len(p.running) == 1 && !p.cut
	w.mu.Unlock()
	result := runGuarded(c, do)
	w.mu.Lock()
	c.act()
	delete(p.running, id)
	c.result = result
	w.finished = append(w.finished, c)
	w.mu.Unlock()
	w.nudge()
}

func (c *Client) newCall(op string, options []Option) *Call {
	w := c.world
	call := &Call{ID: len(w.calls) + 1, Client: c, Op: op}
	call.ctx, call.cancel = context.WithCancel(c.context())
	for _, option := range options {
		option(call)
	}
	w.calls = append(w.calls, call)
	return call
}

// runGuarded runs a call of somebody's lock and turns what comes out into a
// result, also a panic.
func runGuarded(call *Call, do action) (result Result) {
	defer func() {
		if p := recover(); p != nil {
			result = Result{Error: fmt.Sprintf("panic: %v", p), Claim: ClaimPanic}
		}
	}()
	result, err := do(call.ctx)
	switch {
	case err != nil:
		return Result{Error: err.Error(), Claim: claimOf(err)}
	case result.Held:
		result.Claim = ClaimDone
	case result.Claim == "":
		result.Claim = ClaimRefused
	}
	return result
}

// claimOf reads an error as a claim. An error of the context, the network or
// Redis says nothing about what became of the command; any other error is the
// lock's own word that it does not, or does not any more, hold the lock.
func claimOf(err error) Claim {
	var network net.Error
	var protocol redis.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, redis.ErrClosed),
		errors.As(err, &network), errors.As(err, &protocol):
		return ClaimUnknown
	}
	return ClaimRefused
}

// storeCall sends an operation to the ledger. It waits on a wire of its own, so
// that it can be frozen and delayed as a command to Redis can.
func (c *Client) storeCall(op, order string, store func() string) *Call {
	call := c.newCall(op, nil)
	w := c.world
	w.record(Event{Kind: Called, Client: c.Name, Process: c.process.name, Call: call.ID, Op: op, Text: order})
	on := newWire(c.process)
	c.process.wires = append(c.process.wires, on)
	r := &request{wire: on, lane: c, call: call, store: store}
	r.command = Command{Args: []string{op, order}, Name: op, Op: op, Lane: c.Name}
	on.requests = append(on.requests, r)
	return call.Wait()
}

// store runs a ledger operation that reached the ledger.
func (w *World) store(r *request) {
	call := r.call
	call.answer = r.store()
	call.over = true
	r.wire.closed = true
	w.recordRequest(Stored, r, Event{Reply: call.answer, Orders: slices.Clone(w.ledger.orders)})
}

// Wait lets the world go on until the call is over. It gives up when the process
// is stopped, since then only the scenario can go on, and at the horizon.
func (c *Call) Wait() *Call {
	w := c.Client.world
	p := c.Client.process
	w.until(time.Now().Add(w.config.Horizon), func() bool { return c.over || p.isStopped() || c.inFlight() })
	if !c.over && !p.isStopped() && !c.inFlight() {
		w.record(Event{
			Kind: Blocked, Client: c.Client.Name, Process: p.name, Call: c.ID, Op: c.Op,
			Bound: w.config.Horizon,
		})
	}
	return c
}

// inFlight tells whether a write to the ledger is delayed: nothing waits for it.
func (c *Call) inFlight() bool {
	if c.Op != OpInsert && c.Op != OpCheck {
		return false
	}
	for _, wire := range c.Client.process.wires {
		for _, r := range wire.requests {
			if r.call == c && r.due > c.Client.world.now() {
				return true
			}
		}
	}
	return false
}

// Cancel cancels the call's context.
func (c *Call) Cancel() {
	c.Client.world.record(Event{
		Kind: Cancelled, Client: c.Client.Name, Process: c.Client.process.name, Call: c.ID, Op: c.Op,
	})
	c.cancel()
	c.Client.world.settle()
}

package world

import (
	"bytes"
	"cmp"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// wire is one connection between a client's go-redis and the world's Redis. The
// client's side is a net.Conn: what is written is parsed into requests, which
// wait in the world until they are executed, and a reply can be read only once
// the world delivers it. Write never blocks, since go-redis holds a lock across
// it; whoever decides about a request does so later.
type wire struct {
	world   *World
	process *process
	node    *Node
	link    Conn

	mu       sync.Mutex
	partial  []byte // written, not yet a complete command
	readable bytes.Buffer
	changed  chan struct{} // capacity 1: something a reader waits for changed
	err      error         // what Read and Write return from now on
	deadline time.Time
	setAt    time.Time // when the deadline was set

	closed bool // the client hung up; guarded by world.mu

	// The rest belongs to the scenario's goroutine.
	requests   []*request
	replies    []*reply
	subscribed bool
	// What is queued for a transaction changes something when EXEC comes.
	transaction, writes bool
}

// request is a command on its way to Redis, or a write on its way to the ledger.
type request struct {
	Command
	id      int // from 1, in the order in which they were sent
	wire    *wire
	lane    *Client
	call    *Call
	starter *Call // of the goroutine that sent it, where that is no call's
	stack   *stack
	sent    time.Duration
	due     time.Duration // a delayed request arrives at this time
	order   string        // where it stands among requests of the same moment
	struck  bool          // a fault before its execution has already had its turn
	store   func() string // a ledger write instead of a Redis command
}

// reply is what Redis answered, or pushed, and the client has not yet seen.
type reply struct {
	request *request // nil for a push
	raw     []byte
	text    string
	due     time.Duration
	seq     int
}

// wires are all wires, process by process.
func (w *World) wires(yield func(*wire) bool) {
	for _, p := range w.processes {
		for _, c := range p.wires {
			if !yield(c) {
				return
			}
		}
	}
}

func newWire(p *process, to *Node) *wire {
	return &wire{world: p.world, process: p, node: to, link: to.server.Connect(), changed: make(chan struct{}, 1)}
}

// Write accepts the client's bytes and hands each complete command to the world.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	if w.err != nil {
		w.mu.Unlock()
		return 0, w.err
	}
	w.partial = append(w.partial, b...)
	var commands [][]string
	for {
		args, rest, err := parseCommand(w.partial)
		if err != nil {
			w.mu.Unlock()
			return 0, err
		}
		if args == nil {
			break
		}
		w.partial = append(w.partial[:0], rest...)
		commands = append(commands, args)
	}
	w.mu.Unlock()
	if len(commands) > 0 {
		w.world.arrive(w, commands, w.world.callerStack())
	}
	return len(b), nil
}

// Read returns delivered replies. A deadline that passes while the client is
// frozen does not count: a stopped process does not look at its clock.
func (w *wire) Read(b []byte) (int, error) {
	for {
		w.mu.Lock()
		if w.readable.Len() > 0 {
			n, _ := w.readable.Read(b)
			w.mu.Unlock()
			return n, nil
		}
		if w.err != nil {
			w.mu.Unlock()
			return 0, w.err
		}
		deadline := w.deadline
		w.mu.Unlock()

		if deadline.IsZero() || w.process.isStopped() {
			<-w.changed
			continue
		}
		left := time.Until(deadline)
		if left <= 0 {
			time.Sleep(time.Nanosecond) // a context that ends at the same moment has ended when go-redis looks at it
			return 0, os.ErrDeadlineExceeded
		}
		timer := time.NewTimer(left)
		select {
		case <-w.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Close is the client hanging up. Requests that wait are lost, except delayed
// ones: those have left the client and are on their way.
func (w *wire) Close() error {
	w.hangUp(net.ErrClosed)
	w.world.mu.Lock()
	w.closed = true
	w.world.mu.Unlock()
	notify(w.world.wake)
	return nil
}

// unsubscribe ends what Redis keeps for a subscriber.
func (w *wire) unsubscribe() {
	if w.subscribed {
		w.subscribed = false
		unsubscribe(w.link)
	}
}

func unsubscribe(c Conn) {
	for _, command := range []string{"UNSUBSCRIBE", "PUNSUBSCRIBE"} {
		_, _ = c.Execute([]string{command}) // the answers are not needed
	}
}

// hangUp ends the connection: reads and writes return err.
func (w *wire) hangUp(err error) { w.change(func() { w.err = cmp.Or(w.err, err) }) }

func (w *wire) deliver(raw []byte) { w.change(func() { w.readable.Write(raw) }) }

// change changes something that a reader waits for.
func (w *wire) change(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	notify(w.changed)
}

// isLate tells whether something that arrives at that moment comes after the
// deadline: whoever waited for it has left.
func (w *wire) isLate(at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.deadline.IsZero() && at.After(w.deadline)
}

// shiftDeadline moves a deadline by as long as the process stood still after it
// was set.
func (w *wire) shiftDeadline(stoppedAt, now time.Time) {
	w.change(func() {
		if !w.deadline.IsZero() {
			w.deadline = w.deadline.Add(min(now.Sub(stoppedAt), now.Sub(w.setAt)))
		}
	})
}

// SetDeadline sets the read deadline; writes never block.
func (w *wire) SetDeadline(t time.Time) error { return w.SetReadDeadline(t) }

// SetReadDeadline makes a Read that waits past t fail.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.change(func() { w.deadline, w.setAt = t, time.Now() })
	return nil
}

// SetWriteDeadline does nothing: writes never block.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr names the client's side.
func (w *wire) LocalAddr() net.Addr { return &net.UnixAddr{Name: w.process.name, Net: "world"} }

// RemoteAddr names the world's Redis.
func (w *wire) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "redis", Net: "world"} }

// SyscallConn is how go-redis asks the operating system, before it reuses a
// connection, whether the other side has hung up: an error means that it has.
func (w *wire) SyscallConn() (syscall.RawConn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return healthy{}, w.err
}

// healthy is a connection on which nothing has arrived. It is only read.
type healthy struct{ syscall.RawConn }

func (healthy) Read(func(fd uintptr) bool) error { return nil }

var (
	_ net.Conn     = (*wire)(nil)
	_ syscall.Conn = (*wire)(nil)
)

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

// wire is one connection between a client's go-redis and the world's Redis. The client's side is a
// net.Conn. What it writes is parsed into requests, which wait until the world executes them. It
// reads a reply once the world has delivered it. Write never blocks, because go-redis holds a lock
// while it writes.
type wire struct {
	world   *World
	process *process
	node    *Node
	link    Conn

	mu       sync.Mutex
	partial  []byte // an incomplete command
	readable bytes.Buffer
	changed  chan struct{} // capacity 1: wakes a reader
	err      error         // returned by Read and Write from now on
	deadline time.Time
	setAt    time.Time // when the deadline was set

	closed bool // the client hung up; guarded by world.mu

	// The rest belongs to the scenario's goroutine.
	requests   []*request
	replies    []*reply
	subscribed bool
	// transaction: MULTI was sent; writes: the transaction contains a write.
	transaction, writes bool
}

// request is a command to Redis, or a write to the ledger, that has not been executed.
type request struct {
	Command
	id      int // from 1, in the order in which they were sent
	wire    *wire
	lane    *Client
	call    *Call
	starter *Call // the call that started the sending goroutine, if that is not a call's own
	stack   *stack
	sent    time.Duration
	due     time.Duration // a delayed request arrives at this time
	order   string        // sort key among requests of the same moment
	struck  bool          // a Before fault has already struck
	store   func() string // a ledger write instead of a Redis command
}

// reply is a reply or a push that the client has not yet read.
type reply struct {
	request *request // nil for a push
	raw     []byte
	text    string
	due     time.Duration
	seq     int
}

// wires yields all wires, process by process.
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

// Write parses the client's bytes and passes complete commands to the world.
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

// Read returns delivered replies. A deadline does not pass while the client is frozen.
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
			time.Sleep(time.Nanosecond) // so that a context with the same deadline ends before go-redis checks it
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

// Close closes the client's side. Requests that wait are lost, except delayed ones, which are
// already on their way.
func (w *wire) Close() error {
	w.hangUp(net.ErrClosed)
	w.world.mu.Lock()
	w.closed = true
	w.world.mu.Unlock()
	notify(w.world.wake)
	return nil
}

// unsubscribe ends the subscriptions of the connection.
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

// hangUp breaks the connection: reads and writes return err.
func (w *wire) hangUp(err error) { w.change(func() { w.err = cmp.Or(w.err, err) }) }

func (w *wire) deliver(raw []byte) { w.change(func() { w.readable.Write(raw) }) }

// change runs do under the mutex and wakes the reader.
func (w *wire) change(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	notify(w.changed)
}

// isLate reports whether the moment is after the read deadline.
func (w *wire) isLate(at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.deadline.IsZero() && at.After(w.deadline)
}

// shiftDeadline moves the deadline by the length of the process's pause since it was set.
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

// LocalAddr returns the name of the client's process.
func (w *wire) LocalAddr() net.Addr { return &net.UnixAddr{Name: w.process.name, Net: "world"} }

// RemoteAddr returns the name of the world's Redis.
func (w *wire) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "redis", Net: "world"} }

// SyscallConn lets go-redis check, before it reuses a connection, whether the other side has closed
// it: an error means that it has.
func (w *wire) SyscallConn() (syscall.RawConn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return healthy{}, w.err
}

// healthy is a connection without unread data.
type healthy struct{ syscall.RawConn }

func (healthy) Read(func(fd uintptr) bool) error { return nil }

var (
	_ net.Conn     = (*wire)(nil)
	_ syscall.Conn = (*wire)(nil)
)

package world

import (
	"cmp"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"lockkata/failures_test/trace"
)

// Write parses the client's bytes and passes complete commands to the world.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	if err := w.err; err != nil {
		w.mu.Unlock()
		return 0, err
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
		sent.Add(int64(len(commands)))
		w.arrive(commands, callerStack())
	}
	return len(b), nil
}

var sent atomic.Int64

// Sent returns how many commands all clients of all worlds of this process have sent. Any goroutine may ask.
func Sent() int64 { return sent.Load() }

// Read returns delivered replies. A deadline does not pass while the client is frozen.
func (w *wire) Read(b []byte) (int, error) {
	for {
		w.mu.Lock()
		if w.readable.Len() > 0 {
			n, _ := w.readable.Read(b)
			w.mu.Unlock()
			return n, nil
		}
		if err := w.err; err != nil {
			w.mu.Unlock()
			return 0, err
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

func (w *wire) feed(raw []byte) { w.change(func() { w.readable.Write(raw) }) }

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

var _ syscall.Conn = (*wire)(nil)

func newWire(p *Process, to *Node) *wire {
	return &wire{world: p.world, process: p, node: to, link: to.server.Connect(), changed: make(chan struct{}, 1), offset: to.offset}
}

// sever breaks the connection: what was on its way is lost.
func (w *wire) sever() {
	w.requests, w.replies = nil, nil
	w.hangUp(errLost)
}

// losePushes breaks a connection and drops its unread messages.
func (w *wire) losePushes() {
	e := trace.Event{Background: true}
	if len(w.replies) > 0 {
		e.Published = w.replies[0].published
	}
	w.process.record(trace.Dropped, e)
	w.sever()
}

// canArrive reports whether a reply can be delivered. A reply that is delayed beyond its reader's
// deadline never is: in fake time the reader has given up by then.
func (w *wire) canArrive(r *reply, now time.Duration) bool {
	return r.due <= now && (r.due == 0 || !w.isLate(w.world.start.Add(r.due)))
}

// changes reports whether the next command on the wire is a write. In a transaction only EXEC is
// one, if a queued command is.
func (w *wire) changes(name string) bool {
	write := isWrite(w.node.server, name)
	switch {
	case name == "MULTI":
		w.transaction, w.writes = true, false
	case name == "EXEC", name == "DISCARD":
		write = w.writes && name == "EXEC"
		w.transaction = false
	case w.transaction:
		w.writes = w.writes || write
		return false
	}
	return write
}

func (w *wire) newest() *reply { return w.replies[len(w.replies)-1] }

// errLost is the error of a read or write on a broken connection.
var errLost = io.EOF

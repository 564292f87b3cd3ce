//go:build unix

package main

import (
	"context"
	"net"
	"sync"
	"time"
)

// link is the way of one worker to Redis: a socket that leads to the server's. It
// can be cut, silenced, and made slow.
type link struct {
	listener net.Listener
	server   string
	ctx      context.Context // ends with the link
	cancel   context.CancelFunc
	carriers sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	open  chan struct{} // closed while bytes may pass
	slow  time.Duration // how late answers are
}

func openLink(socket, server string) (*link, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, server: server, conns: map[net.Conn]bool{}, open: make(chan struct{})}
	close(l.open)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.carriers.Go(l.serve)
	return l, nil
}

func (l *link) socket() string { return l.listener.Addr().String() }

func (l *link) serve() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return // it is closed
		}
		to, err := net.Dial("unix", l.server)
		if err != nil {
			_ = from.Close() // the server is away, and so is this connection
			continue
		}
		l.mu.Lock()
		l.conns[from], l.conns[to] = true, true
		l.mu.Unlock()
		l.carriers.Go(func() { l.carry(from, to, false) })
		l.carriers.Go(func() { l.carry(to, from, true) })
	}
}

// carry copies until either side hangs up.
func (l *link) carry(from, to net.Conn, answers bool) {
	defer l.hangUp(from, to)
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !l.pass(answers) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// pass waits until bytes may pass. It returns false when the link has ended.
func (l *link) pass(answers bool) bool {
	l.mu.Lock()
	slow := l.slow
	l.mu.Unlock()
	if answers && slow > 0 {
		wait(l.ctx, slow)
	}
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	select {
	case <-open:
		return true
	case <-l.ctx.Done():
		return false
	}
}

func (l *link) hangUp(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // the other carrier may have done so
		delete(l.conns, conn)
	}
}

// cut breaks every connection. New ones work.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		_ = conn.Close() // its carriers notice
	}
}

// silence keeps all bytes back, until talk lets them pass.
func (l *link) silence() {
	l.mu.Lock()
	l.open = make(chan struct{})
	l.mu.Unlock()
}

func (l *link) talk() {
	l.mu.Lock()
	close(l.open)
	l.mu.Unlock()
}

// delay makes answers that late.
func (l *link) delay(d time.Duration) {
	l.mu.Lock()
	l.slow = d
	l.mu.Unlock()
}

func (l *link) close() {
	_ = l.listener.Close() // nothing is to be saved
	l.cancel()
	l.cut()
	l.carriers.Wait()
}

// wait waits for d, and tells whether ctx lasted as long.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

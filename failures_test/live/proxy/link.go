package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is one connection through the proxy. One goroutine carries its commands, one
// its replies.
type link struct {
	proxy         *Proxy
	client, redis net.Conn
	sent          map[string]bool // the names of its commands; proxy.mu guards it
	deaf          atomic.Bool     // half open

	mu      sync.Mutex
	pending []awaited // replies that Redis still owes, in order
}

// awaited is a reply that is to come.
type awaited struct {
	fault Fault
	// stream says that from this reply on anything may come, at any time.
	stream bool
}

// streams are the commands after which a connection is not question and answer any
// more.
var streams = map[string]bool{
	"SUBSCRIBE": true, "PSUBSCRIBE": true, "SSUBSCRIBE": true, "MONITOR": true, "SYNC": true, "PSYNC": true,
}

// hangUp breaks the connection. Its carriers notice.
func (l *link) hangUp() {
	_ = l.client.Close() // the other carrier may have done so
	_ = l.redis.Close()
}

// carry carries one direction until either side hangs up.
func (l *link) carry(direction func() error) {
	_ = direction() // how it ended: somebody hung up, or was to
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.hangUp()
	delete(l.proxy.links, l)
}

// commands carries what the client says.
func (l *link) commands() error {
	from := bufio.NewReader(l.client)
	for {
		args, raw, err := readCommand(from)
		if err != nil {
			return err
		}
		name := l.proxy.Name(args...)
		fault := l.proxy.arrives(l, name)
		switch fault {
		case CutCommand:
			return nil
		case HalfOpen:
			l.deaf.Store(true)
		}
		l.mu.Lock()
		l.pending = append(l.pending, awaited{fault, streams[name]})
		l.mu.Unlock()
		if err := l.pass(l.redis, raw, 0); err != nil {
			return err
		}
	}
}

// replies carries what Redis says, one reply after the other, and as it comes where
// that has no end.
func (l *link) replies() error {
	from := bufio.NewReader(l.redis)
	for {
		kind, err := from.Peek(1)
		if err != nil {
			return err
		}
		due, isReply := l.due(kind[0])
		if due.stream {
			_, err := io.Copy(stream{l}, from)
			return err
		}
		raw, err := readValue(from)
		if err != nil {
			return err
		}
		late := time.Duration(0)
		switch {
		case !isReply:
		case due.fault == CutReply:
			return nil
		case due.fault == DropReply:
			continue
		case due.fault == DelayReply:
			l.proxy.mu.Lock()
			late = l.proxy.late
			l.proxy.mu.Unlock()
		}
		if err := l.pass(l.client, raw, late+l.slow()); err != nil {
			return err
		}
	}
}

// due is the reply that comes next. What Redis pushes, which protocol 3 marks, is
// none.
func (l *link) due(kind byte) (next awaited, isReply bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 || kind == '>' && !l.pending[0].stream {
		return awaited{}, false
	}
	next = l.pending[0]
	if !next.stream {
		l.pending = l.pending[1:]
	}
	return next, true
}

func (l *link) slow() time.Duration {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	return l.proxy.slow
}

// stream takes what comes without an end.
type stream struct{ *link }

// Write passes it on, as slow as the proxy is.
func (s stream) Write(b []byte) (int, error) { return len(b), s.pass(s.client, b, s.slow()) }

// pass sends bytes when they may pass; a half-open connection swallows them.
func (l *link) pass(to net.Conn, b []byte, late time.Duration) error {
	ctx := l.proxy.ctx
	if late > 0 {
		select {
		case <-time.After(late):
		case <-ctx.Done():
		}
	}
	l.proxy.mu.Lock()
	open := l.proxy.open
	l.proxy.mu.Unlock()
	select {
	case <-open:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.deaf.Load() {
		return nil
	}
	_, err := to.Write(b)
	return err
}

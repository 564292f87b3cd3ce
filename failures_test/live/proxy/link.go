package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// link is one connection through the proxy. One goroutine carries its commands, one
// its replies.
type link struct {
	proxy         *Proxy
	client, redis net.Conn
	sent          map[string]bool // the names of its commands; proxy.mu guards it
	deaf          atomic.Bool     // half open

	mu  sync.Mutex
	due []reply // that Redis has not sent yet, in order
}

// reply is one that is to come.
type reply struct {
	fault  Fault
	stream bool // from it on anything may come, at any time
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
	_ = direction() // one side hung up, or a fault made it
	l.hangUp()
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	delete(l.proxy.links, l)
}

// commands carries what the client says.
func (l *link) commands() error {
	from := bufio.NewReader(l.client)
	for {
		raw, err := readValue(from)
		if err != nil {
			return err
		}
		args, err := proto.ReadStrings(string(raw))
		if err != nil || len(args) == 0 {
			return err
		}
		name, fault := l.proxy.arrives(l, args)
		switch fault {
		case CutCommand:
			return nil
		case HalfOpen:
			l.deaf.Store(true)
		}
		l.mu.Lock()
		l.due = append(l.due, reply{fault, streams[name]})
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
		next := l.next(kind[0])
		if next.stream {
			_, err := io.Copy(stream{l}, from)
			return err
		}
		raw, err := readValue(from)
		if err != nil || next.fault == CutReply {
			return err
		}
		if next.fault == DropReply {
			continue
		}
		if err := l.pass(l.client, raw, l.lateness(next.fault)); err != nil {
			return err
		}
	}
}

// next is the reply that begins with that byte. What Redis pushes, which protocol 3
// marks, answers nothing.
func (l *link) next(kind byte) (next reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.due) > 0 {
		next = l.due[0]
	}
	switch {
	case next.stream: // it stays
	case kind == '>':
		return reply{}
	case len(l.due) > 0:
		l.due = l.due[1:]
	}
	return next
}

// lateness is how late a reply is.
func (l *link) lateness(fault Fault) time.Duration {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if fault == DelayReply {
		return l.proxy.slow + l.proxy.late
	}
	return l.proxy.slow
}

// stream takes what comes without an end.
type stream struct{ *link }

// Write passes it on, as slow as the proxy is.
func (s stream) Write(b []byte) (int, error) { return len(b), s.pass(s.client, b, s.lateness(None)) }

// pass sends bytes when they may pass; a half-open connection swallows them.
func (l *link) pass(to net.Conn, b []byte, late time.Duration) error {
	ended := l.proxy.ctx.Done()
	if late > 0 {
		select {
		case <-time.After(late):
		case <-ended:
		}
	}
	l.proxy.mu.Lock()
	open := l.proxy.open
	l.proxy.mu.Unlock()
	select {
	case <-open:
	case <-ended:
		return context.Canceled
	}
	if l.deaf.Load() {
		return nil
	}
	_, err := to.Write(b)
	return err
}

// readValue reads one value of RESP 2 or 3 as the bytes that came.
func readValue(r *bufio.Reader) ([]byte, error) {
	raw, err := r.ReadBytes('\n')
	if err != nil || len(raw) < 3 {
		return raw, err
	}
	n, _ := strconv.Atoi(string(raw[1 : len(raw)-2])) // only some kinds have a length
	switch raw[0] {
	case '$', '=', '!':
		if n >= 0 {
			body := make([]byte, n+2)
			_, err = io.ReadFull(r, body)
			raw = append(raw, body...)
		}
		return raw, err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		n = 0
	}
	for range n {
		part, err := readValue(r)
		if err != nil {
			return nil, err
		}
		raw = append(raw, part...)
	}
	return raw, nil
}

package stage6_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// fault is what a proxy does to a command.
type fault int

const (
	none       fault = iota
	cutCommand       // the connection breaks before Redis has the command
	cutReply         // Redis executes it, and the connection breaks before the reply
	dropReply        // Redis executes it, and no reply ever comes
	delayReply       // Redis executes it, and the reply comes late
	goSilent         // from this command on nothing passes, and nobody is told: half open
)

// proxy is a TCP port that leads to a redis-server. It reads along, and can do
// something to the next commands of a name.
type proxy struct {
	listener net.Listener
	socket   string
	names    names
	ctx      context.Context // ends with the proxy
	carriers sync.WaitGroup

	mu    sync.Mutex
	next  map[string][]fault // name → what becomes of its next commands
	seen  map[string]int     // name → how many there were
	late  time.Duration      // of a delayed reply
	heard map[*link]bool     // connections that carry a subscription
}

// link is one connection through the proxy.
type link struct {
	proxy         *proxy
	client, redis net.Conn
	silent        atomic.Bool
}

// Proxy is a way to the server that breaks on request.
func (s *server) Proxy() *proxy {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p := &proxy{
		listener: listener, socket: s.Socket(), names: scriptNames(s.t), ctx: ctx,
		next: map[string][]fault{}, seen: map[string]int{}, heard: map[*link]bool{},
	}
	p.carriers.Go(p.serve)
	s.t.Cleanup(func() {
		_ = listener.Close() // nothing is to be saved
		cancel()
		p.carriers.Wait()
	})
	return p
}

// Client uses the proxy.
func (p *proxy) Client(t *testing.T, change ...func(*redis.Options)) *redis.Client {
	return clientOf(t, append([]func(*redis.Options){func(o *redis.Options) {
		o.Addr = p.listener.Addr().String()
	}}, change...)...)
}

// Mutex is the lock of a process behind the proxy.
func (p *proxy) Mutex(t *testing.T, opts ...final.Option) *final.Mutex {
	t.Helper()
	return mutexOn(t, p.Client(t), opts...)
}

// Next says what becomes of the next commands of that name.
func (p *proxy) Next(name string, faults ...fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next[name] = faults
}

// Late is by how much a delayed reply comes late.
func (p *proxy) Late(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = d
}

// Count is how many commands of that name have come, whatever became of them.
func (p *proxy) Count(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[name]
}

// Await waits until that many commands of a name have come.
func (p *proxy) Await(t *testing.T, name string, count int) {
	t.Helper()
	eventually(t, func() bool { return p.Count(name) >= count }, "no "+name)
}

// SilenceSubscribers leaves the connections half open on which somebody listens.
func (p *proxy) SilenceSubscribers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.heard {
		l.silent.Store(true)
	}
}

func (p *proxy) fate(name string) (fault, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[name]++
	coming := p.next[name]
	if len(coming) == 0 {
		return none, 0
	}
	p.next[name] = coming[1:]
	return coming[0], p.late
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // it is closed
		}
		server, err := net.Dial("unix", p.socket)
		if err != nil {
			_ = client.Close() // the client sees that there is no Redis
			continue
		}
		l := &link{proxy: p, client: client, redis: server}
		p.carriers.Go(l.carry)
	}
}

func (l *link) close() {
	_ = l.client.Close() // nothing is to be saved
	_ = l.redis.Close()
}

// carry passes one command after the other, until one is a subscription, or the
// connection breaks.
func (l *link) carry() {
	stop := context.AfterFunc(l.proxy.ctx, l.close)
	defer stop()
	defer l.close()
	fromClient, fromRedis := bufio.NewReader(l.client), bufio.NewReader(l.redis)
	for {
		args, raw, err := readCommand(fromClient)
		if err != nil {
			return
		}
		name := l.proxy.names.of(args...)
		fault, late := l.proxy.fate(name)
		switch fault {
		case cutCommand:
			return
		case goSilent:
			_, _ = io.Copy(io.Discard, fromClient) // until the client hangs up
			return
		}
		if _, err := l.redis.Write(raw); err != nil {
			return
		}
		if name == "SUBSCRIBE" {
			l.carryMessages(fromClient, fromRedis)
			return
		}
		reply, err := readReply(fromRedis)
		if err != nil {
			return
		}
		switch fault {
		case cutReply:
			return
		case dropReply:
			continue
		case delayReply:
			select {
			case <-time.After(late):
			case <-l.proxy.ctx.Done():
			}
		}
		if _, err := l.client.Write(reply); err != nil {
			return
		}
	}
}

// carryMessages passes whatever comes, unless the link is silent.
func (l *link) carryMessages(fromClient, fromRedis io.Reader) {
	p := l.proxy
	p.mu.Lock()
	p.heard[l] = true
	p.mu.Unlock()
	p.carriers.Go(func() {
		_, _ = io.Copy(unlessSilent{l, l.redis}, fromClient)
		l.close()
	})
	_, _ = io.Copy(unlessSilent{l, l.client}, fromRedis)
	p.mu.Lock()
	delete(p.heard, l)
	p.mu.Unlock()
}

// unlessSilent swallows what is written to a half open connection.
type unlessSilent struct {
	link *link
	to   net.Conn
}

func (w unlessSilent) Write(b []byte) (int, error) {
	if w.link.silent.Load() {
		return len(b), nil
	}
	return w.to.Write(b)
}

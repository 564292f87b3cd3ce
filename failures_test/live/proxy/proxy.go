// Package proxy is a bad network between a client and a redis-server. It cuts
// connections, holds bytes back and is slow.
//
//	p, err := proxy.Open(server.Socket())
//	defer p.Close()
//	p.Slow(time.Second) // each answer comes a second late
package proxy

import (
	"context"
	"net"
	"sync"
	"time"

	"lockkata/failures_test/live/redisserver"
)

// Proxy is the way to a redis-server. Its methods may be used by several goroutines.
type Proxy struct {
	listener net.Listener
	server   string
	ctx      context.Context // ends with the proxy
	cancel   context.CancelFunc
	carriers sync.WaitGroup

	mu    sync.Mutex
	links map[*link]bool
	open  chan struct{} // closed while bytes may pass
	slow  time.Duration // how late every answer is
}

// link is one connection through the proxy.
type link struct{ client, redis net.Conn }

// hangUp breaks the connection. Its carriers notice.
func (l *link) hangUp() {
	_ = l.client.Close() // the other carrier may have done so
	_ = l.redis.Close()
}

// Open begins to listen. The server is where Redis answers: the path of a Unix socket, or a host
// and port.
func Open(server string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, server: server, links: map[*link]bool{}, open: make(chan struct{})}
	close(p.open)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.carriers.Go(p.serve)
	return p, nil
}

// Addr returns the host and port where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close breaks every connection and waits until all is quiet.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.cancel()
	p.Cut()
	p.carriers.Wait()
}

// Cut breaks every connection. New ones work.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.hangUp()
	}
}

// Silence keeps all bytes back, in both directions, until Talk lets them pass. Each
// Silence wants its Talk.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Talk ends a silence. What was kept back arrives.
func (p *Proxy) Talk() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.open)
}

// Slow delays every answer and message by d.
func (p *Proxy) Slow(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = d
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // it is closed
		}
		redis, err := net.Dial(redisserver.Network(p.server), p.server)
		if err != nil {
			_ = client.Close() // the client sees that there is no Redis
			continue
		}
		l := &link{client, redis}
		p.mu.Lock()
		p.links[l] = true
		if p.ctx.Err() != nil {
			l.hangUp() // Close has not seen it
		}
		p.mu.Unlock()
		p.carriers.Go(func() { p.carry(l, l.redis, l.client, false) })
		p.carriers.Go(func() { p.carry(l, l.client, l.redis, true) })
	}
}

// carry carries one direction until either side hangs up.
func (p *Proxy) carry(l *link, to, from net.Conn, answers bool) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err == nil {
			p.delay(answers)
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			break
		}
	}
	l.hangUp()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// delay returns when bytes may pass, or when the proxy is closed.
func (p *Proxy) delay(answer bool) {
	p.mu.Lock()
	slow := p.slow
	p.mu.Unlock()
	if answer && slow > 0 {
		select {
		case <-time.After(slow):
		case <-p.ctx.Done():
		}
	}
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	select {
	case <-open:
	case <-p.ctx.Done():
	}
}

// Package proxy is an unreliable network between a client and a redis-server. It breaks
// connections, blocks data and adds delay.
//
//	p, err := proxy.Open(server.Socket())
//	defer p.Close()
//	p.Slow(time.Second) // each answer arrives a second later
package proxy

import (
	"context"
	"net"
	"sync"
	"time"

	"lockkata/failures_test/live/redisserver"
)

// Proxy forwards connections to a redis-server. Several goroutines may use its methods.
type Proxy struct {
	listener net.Listener
	server   string
	ctx      context.Context // ends with the proxy
	cancel   context.CancelFunc
	carriers sync.WaitGroup

	mu    sync.Mutex
	links map[*link]bool
	open  chan struct{} // closed while data may pass
	slow  time.Duration // delay of each answer
}

// link is one connection through the proxy.
type link struct{ client, redis net.Conn }

// hangUp closes both sides of the connection, which ends its two carriers.
func (l *link) hangUp() {
	_ = l.client.Close() // the other carrier may have done so
	_ = l.redis.Close()
}

// Open returns a proxy that listens. server is the address of Redis: the path of a Unix socket, or
// host and port.
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

// Close breaks all connections and waits until the proxy's goroutines have ended.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.cancel()
	p.Cut()
	p.carriers.Wait()
}

// Cut breaks all connections. New ones work.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.hangUp()
	}
}

// Silence blocks all data in both directions until Talk. Each Silence needs a Talk.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Talk ends a Silence. The blocked data arrives.
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
			return // the proxy is closed
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

// carry copies one direction until either side closes the connection.
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

// delay waits until data may pass or the proxy is closed.
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

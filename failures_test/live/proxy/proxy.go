// Package proxy is a bad network between a client and a redis-server. It cuts
// connections, holds bytes back, is slow, and can do something to the next command of a
// name.
//
//	p, err := proxy.Open(proxy.Config{Server: server.Socket(), Scripts: proxy.Scripts{"renew": source}})
//	defer p.Close()
//	p.Next("renew", proxy.CutReply) // Redis renews, but the client gets no reply
package proxy

import (
	"context"
	"crypto/sha1"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"lockkata/failures_test/live/redisserver"
)

// Scripts are the sources of scripts by name. A command that runs one of them has
// its name; any other has Redis's, in upper case: GET, SUBSCRIBE, EVALSHA.
type Scripts map[string]string

// Config says where a proxy stands.
type Config struct {
	Server  string  // where Redis answers: the path of a Unix socket, or a host and port
	Scripts Scripts // those that have names
}

// Fault is what a proxy does to a command.
type Fault int

// The faults.
const (
	None       Fault = iota // the command passes
	CutCommand              // the connection breaks before Redis has the command
	CutReply                // Redis executes it, and the connection breaks before the reply
	DropReply               // Redis executes it, and no reply ever comes; the connection goes on
	DelayReply              // Redis executes it, and the reply comes as late as Late says
	HalfOpen                // from this command on nothing passes on its connection, which stays open
)

// Proxy is the way to a redis-server. Its methods may be used by several goroutines.
type Proxy struct {
	listener net.Listener
	server   string
	names    map[string]string // hash of a script → its name
	ctx      context.Context   // ends with the proxy
	cancel   context.CancelFunc
	carriers sync.WaitGroup

	mu    sync.Mutex
	links map[*link]bool
	next  map[string][]Fault // name → what becomes of its next commands
	seen  map[string]int     // name → how many there were
	open  chan struct{}      // closed while bytes may pass
	slow  time.Duration      // how late every answer is
	late  time.Duration      // how late a delayed reply is
}

// Open begins to listen.
func Open(c Config) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		listener: listener, server: c.Server, names: map[string]string{}, links: map[*link]bool{},
		next: map[string][]Fault{}, seen: map[string]int{}, open: make(chan struct{}),
	}
	for name, source := range c.Scripts {
		p.names[fmt.Sprintf("%x", sha1.Sum([]byte(source)))] = name
	}
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

// Late sets the delay of a [DelayReply].
func (p *Proxy) Late(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = d
}

// HalfOpen makes the connections [HalfOpen] on which a command of that name was
// sent: with "SUBSCRIBE" those of listeners.
func (p *Proxy) HalfOpen(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if l.sent[name] {
			l.deaf.Store(true)
		}
	}
}

// Next sets the faults of the next commands of that name, one for each.
func (p *Proxy) Next(name string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next[name] = faults
}

// Count returns how many commands of that name have come, with or without a fault.
func (p *Proxy) Count(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[name]
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
		l := &link{proxy: p, client: client, redis: redis, sent: map[string]bool{}}
		p.mu.Lock()
		p.links[l] = true
		if p.ctx.Err() != nil {
			l.hangUp() // Close has not seen it
		}
		p.mu.Unlock()
		p.carriers.Go(func() { l.carry(l.commands) })
		p.carriers.Go(func() { l.carry(l.replies) })
	}
}

// arrives notes a command of a link, and tells its name and what becomes of it.
func (p *Proxy) arrives(l *link, args []string) (name string, fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name = strings.ToUpper(args[0])
	if script := p.names[args[min(1, len(args)-1)]]; name == "EVALSHA" && script != "" {
		name = script
	}
	p.seen[name]++
	l.sent[name] = true
	if coming := p.next[name]; len(coming) > 0 {
		p.next[name], fault = coming[1:], coming[0]
	}
	return name, fault
}

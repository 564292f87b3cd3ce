package world

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// Driver is the client library of a process, such as go-redis, with its connections to every server.
type Driver interface {
	io.Closer
	// Do sends a command to the first server.
	Do(ctx context.Context, args ...any) error
	// SetReadTimeout sets the read timeout of all connections, which have to be idle.
	SetReadTimeout(d time.Duration)
	// WasCrowded reports whether a goroutine may have waited for a connection of a full pool.
	WasCrowded() bool
	// IsUnclear reports whether, after an error of the driver itself, a command may or may not have
	// taken effect.
	IsUnclear(err error) bool
}

// Attributing is a Driver whose commands leave in goroutines of its own: it reports whether a command belongs to a
// call under way, and to which client's; "" means any client. It is asked once for each command.
type Attributing interface {
	Attribute(args []string) (client string, is bool)
}

// Halting is a Driver that is told what happens to its process.
type Halting interface {
	Freeze()
	Thaw()
	Crash()
}

// Settings are the settings of a driver. Without any, it sends each command once.
type Settings struct {
	Retries     int           // after a broken connection, with no pauses, which would be random
	ReadTimeout time.Duration // default: the driver's; negative: none
	Timeout     time.Duration // of writing, of connecting and of waiting for a connection; as ReadTimeout
	PoolSize    int           // the most connections to a server; default 16
	Pace        time.Duration // the time that passes before each command
}

// DefaultRetries has the retries that go-redis has by default.
var DefaultRetries = Settings{Retries: 3}

// Servers returns the number of servers.
func (p *Process) Servers() int { return len(p.nodes) }

// Settings returns the settings of the process's driver.
func (p *Process) Settings() Settings {
	s := p.world.config.Client
	p.world.clock.Timeouts(&s, p.world.Lease)
	return s
}

// Random returns a random source, which is another one for each process and the same in each run.
func (p *Process) Random() rand.Source { return rand.NewPCG(0, uint64(p.index)) }

// Share returns the driver that all locks of the process share, for their constructors. The first call
// creates it. The world closes it at the end.
func (p *Process) Share(create func() Driver) Driver {
	if p.driver == nil {
		p.driver = create()
	}
	return p.driver
}

// Dial opens a connection to a server, counted from 0. While the process has no network it waits, as
// after a lost SYN.
func (p *Process) Dial(ctx context.Context, server int) (net.Conn, error) {
	w := p.world
	for {
		w.mu.Lock()
		cut, healed := p.cut, p.healed
		if !cut {
			c := newWire(p, p.nodes[server])
			p.opened = append(p.opened, c)
			w.mu.Unlock()
			return c, nil
		}
		w.mu.Unlock()
		select {
		case <-healed:
		case <-ctx.Done():
			return nil, &net.OpError{Op: "dial", Net: "world", Err: ctx.Err()}
		}
	}
}

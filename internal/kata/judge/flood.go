package judge

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/internal/i18n"
)

// floodLimit is how many answers one client may read in a second of fake time. A
// lock that asks every millisecond stays below it.
const floodLimit = 2000

// counted changes a client so that it counts what it reads, after what the
// failure itself changes.
func counted(change func(*redis.Options), g *guard) func(*redis.Options) {
	return func(o *redis.Options) {
		if change != nil {
			change(o)
		}
		dial, m := o.Dialer, &meter{guard: g}
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return meteredConn{conn, m}, nil
		}
	}
}

// meter counts the answers of the present second. Its client's goroutines take
// turns in a bubble, and a miscount does no harm.
type meter struct {
	guard *guard
	since time.Time
	count int
}

// meteredConn counts at Read, not at Write: a Write that passed through here
// would be taken for the line of the lock that sent the command.
type meteredConn struct {
	net.Conn
	meter *meter
}

// SyscallConn is how go-redis asks whether the other side has hung up.
func (c meteredConn) SyscallConn() (syscall.RawConn, error) {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}

var (
	floods    = i18n.New("Your lock floods Redis: more than {n} commands in a second.")
	floodsAt  = i18n.New("{call} at {line} floods Redis: more than {n} commands in a second.")
	floodNext = i18n.New("Wait between two attempts: some milliseconds at least, or for a message.")
)

// Read reads, and ends the run when there has been too much to read.
func (c meteredConn) Read(b []byte) (int, error) {
	m := c.meter
	if time.Since(m.since) >= time.Second {
		m.since, m.count = time.Now(), 0
	}
	if m.count++; m.count > floodLimit {
		say, call, line := floods, "", ""
		for _, g := range ofLock() {
			if g.redis && g.inner.file != "" {
				say, call, line = floodsAt, g.inner.function, g.inner.place()
				break
			}
		}
		m.guard.convict(Because(Floods, floodNext, say.Args("call", call, "line", line, "n", floodLimit)))
	}
	return c.Conn.Read(b)
}

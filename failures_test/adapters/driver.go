package adapters

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockkata/failures_test/world"
)

// go-redis would print a line for each fault.
func init() { logging.Disable() }

// Over returns the constructor of a lock on several servers. It gets a client for each, in the order of
// their names, and a random source: another one for each process, and the same in each run.
func Over[L world.Locker](newLock func([]redis.UniversalClient, string, time.Duration, rand.Source) (L, error)) world.Constructor {
	return func(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
		return newLock(clientsOf(p), name, lease, p.Random())
	}
}

// Connect returns a client of a new process, which has no lock. The client connects to that server.
func Connect(to *world.Node, change ...func(*redis.Options)) *redis.Client {
	p := to.NewProcess()
	return p.Share(func() world.Driver { return newDriver(p, change...) }).(*driver).nodes[0].(*redis.Client)
}

// Using returns a process outside of a world, whose locks use a client.
func Using(rdb redis.UniversalClient) *world.Process {
	p := &world.Process{}
	p.Share(func() world.Driver { return &driver{nodes: []redis.UniversalClient{rdb}} })
	return p
}

// clientsOf returns the clients that all locks of a process share, one for each server.
func clientsOf(p *world.Process) []redis.UniversalClient {
	return p.Share(func() world.Driver { return newDriver(p) }).(*driver).nodes
}

// driver is go-redis as the driver of a process, with a client for each server.
type driver struct {
	process *world.Process
	nodes   []redis.UniversalClient
}

func newDriver(p *world.Process, change ...func(*redis.Options)) *driver {
	d := &driver{process: p}
	for server := range p.Servers() {
		d.nodes = append(d.nodes, d.newClient(server, change))
	}
	return d
}

func (d *driver) newClient(server int, change []func(*redis.Options)) *redis.Client {
	s := d.process.Settings()
	options := &redis.Options{
		Addr:                  "127.0.0.1:6379",
		Protocol:              2,
		DisableIdentity:       true,
		MaxRetries:            cmp.Or(s.Retries, -1),
		MinRetryBackoff:       -1,
		MaxRetryBackoff:       -1,
		ReadTimeout:           s.ReadTimeout,
		WriteTimeout:          s.Timeout,
		DialTimeout:           s.Timeout,
		PoolTimeout:           s.Timeout,
		PoolSize:              cmp.Or(s.PoolSize, 16),
		ReadBufferSize:        512,
		WriteBufferSize:       512,
		ContextTimeoutEnabled: true,
		// Maintenance notifications look up host names, which does not work in a bubble.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   func(ctx context.Context, _, _ string) (net.Conn, error) { return d.process.Dial(ctx, server) },
	}
	if s.Pace > 0 {
		options.Limiter = pace(s.Pace)
	}
	for _, f := range change {
		f(options)
	}
	return redis.NewClient(options)
}

// Do sends a command to the first server.
func (d *driver) Do(ctx context.Context, args ...any) error { return d.nodes[0].Do(ctx, args...).Err() }

// SetReadTimeout sets the read timeout of all clients.
func (d *driver) SetReadTimeout(timeout time.Duration) {
	for _, rdb := range d.nodes {
		rdb.(*redis.Client).Options().ReadTimeout = timeout
	}
}

// WasCrowded reports whether a goroutine may have waited for a connection. go-redis does not count a wait
// that a context has ended.
func (d *driver) WasCrowded() bool {
	return slices.ContainsFunc(d.nodes, func(rdb redis.UniversalClient) bool {
		stats := rdb.PoolStats()
		return stats.WaitCount > 0 || stats.Timeouts > 0 || int(stats.Misses) >= rdb.(*redis.Client).Options().PoolSize
	})
}

// IsUnclear reports whether an error is about the client and not about the command.
func (d *driver) IsUnclear(err error) bool {
	return errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout)
}

// Close closes the clients.
func (d *driver) Close() (err error) {
	for _, rdb := range d.nodes {
		err = errors.Join(err, rdb.Close())
	}
	return err
}

// pace is a limiter that lets time pass before each command.
type pace time.Duration

// Allow waits.
func (p pace) Allow() error {
	time.Sleep(time.Duration(p))
	return nil
}

// ReportResult does nothing.
func (pace) ReportResult(error) {}

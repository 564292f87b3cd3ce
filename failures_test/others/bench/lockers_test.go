//go:build live

package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The locks that are measured.
const (
	stage6Lock      = "stage 6"
	redislockLock   = "redislock"
	redsyncLock     = "redsync"
	rueidislockLock = "rueidislock"
)

var kinds = []string{stage6Lock, redislockLock, redsyncLock, rueidislockLock}

// locker is a library with its own client, used as its README shows. mutex returns the lock with a
// name, for one goroutine.
type locker struct {
	*wire
	kind  string
	mutex func(name string) (acquire, error)
	close func() error
}

// acquire waits for the lock.
type acquire func(context.Context) (hold, error)

// patience is how long a waiter may wait after which it was not woken.
const patience = 30 * time.Second

// bounded waits for the lock, but no longer than patience. The context of a hold does not end then,
// because rueidislock would release the lock.
func (l locker) bounded(lock acquire) (hold, error) {
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(patience, cancel)
	defer timer.Stop()
	h, err := lock(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("%s: a waiter did not get the lock within %v", l.kind, patience)
	}
	return h, err
}

// hold is a lock that is held.
type hold interface{ Unlock() error }

// wire counts the connections of a client and its round trips: a round trip begins with the first
// write and with the first write after a read.
type wire struct{ dials, trips atomic.Int64 }

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.dials.Add(1)
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	return &countedConn{Conn: conn, wire: w}, err
}

type countedConn struct {
	net.Conn
	wire    *wire
	sending atomic.Bool
}

// Write counts the beginning of a round trip.
func (c *countedConn) Write(b []byte) (int, error) {
	if !c.sending.Swap(true) {
		c.wire.trips.Add(1)
	}
	return c.Conn.Write(b)
}

// Read ends a round trip.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.sending.Store(false)
	return n, err
}

// dial returns a library's locker on the Redis at addr. A lease of 0 means the library's default.
// redislock and redsync renew nothing, so their leases outlast a measurement.
func dial(kind, addr string, lease time.Duration) (locker, error) {
	l := locker{wire: &wire{}, kind: kind}
	if kind == rueidislockLock {
		return l.rueidislock(addr, lease)
	}
	rdb := realredis.NewClient(addr, func(o *redis.Options) { o.Dialer = l.dial })
	l.close = rdb.Close
	const untilTheEnd = time.Minute
	switch kind {
	case redislockLock: // waits as its own example does
		client := redislock.New(rdb)
		options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
		l.mutex = func(name string) (acquire, error) {
			return func(ctx context.Context) (hold, error) {
				lock, err := client.Obtain(ctx, name, untilTheEnd, options)
				return redislockHold{lock}, err
			}, nil
		}
	case redsyncLock: // with its default pause, but without its default limit of 32 tries
		rs := redsync.New(goredis.NewPool(rdb))
		l.mutex = func(name string) (acquire, error) {
			m := rs.NewMutex(name, redsync.WithExpiry(untilTheEnd), redsync.WithTries(math.MaxInt32))
			return func(ctx context.Context) (hold, error) { return redsyncHold{m}, m.LockContext(ctx) }, nil
		}
	default:
		var options []stage6.Option
		if lease > 0 {
			options = append(options, stage6.WithWatchdogTimeout(lease))
		}
		svc, err := stage6.NewService(rdb, options...)
		if err != nil {
			return l, err
		}
		l.close = func() error { return errors.Join(svc.Close(), rdb.Close()) }
		l.mutex = func(name string) (acquire, error) {
			m, err := svc.Mutex(name)
			return func(ctx context.Context) (hold, error) { return m.Lock(ctx) }, err
		}
	}
	return l, nil
}

// rueidislock sets the options that its README gives for one Redis >= 7.0.5, but a longer timeout:
// by default, a lock whose answer takes more than 20 ms releases the key and then waits for a
// message that is never sent.
func (l locker) rueidislock(addr string, lease time.Duration) (locker, error) {
	lk, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{addr},
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return l.dial(ctx, "tcp", addr)
			},
		},
		KeyMajority: 1, NoLoopTracking: true, KeyValidity: lease, TryNextAfter: 10 * time.Second,
	})
	if err != nil {
		return l, err
	}
	l.close = func() error { lk.Close(); return nil }
	l.mutex = func(name string) (acquire, error) {
		return func(ctx context.Context) (hold, error) {
			_, cancel, err := lk.WithContext(ctx, name)
			return rueidislockHold(cancel), err
		}, nil
	}
	return l, nil
}

// The holds are pointers and functions, so that they add no allocations to those of the library.
type (
	redislockHold   struct{ *redislock.Lock }
	redsyncHold     struct{ *redsync.Mutex }
	rueidislockHold context.CancelFunc
)

// Unlock releases the lock.
func (h redislockHold) Unlock() error { return h.Release(context.Background()) }

// Unlock unlocks the mutex.
func (h redsyncHold) Unlock() error {
	_, err := h.Mutex.Unlock()
	return err
}

// Unlock calls cancel, which returns when the key is gone.
func (h rueidislockHold) Unlock() error {
	h()
	return nil
}

// open returns a library's locker that is closed with the test.
func open(t testing.TB, kind string, server *redisserver.Server, lease time.Duration) locker {
	t.Helper()
	l, err := dial(kind, server.Addr(), lease)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.close()) })
	return l
}

// lock returns the lock of a name and takes it.
func (l locker) lock(ctx context.Context, name string) (hold, error) {
	acquire, err := l.mutex(name)
	if err != nil {
		return nil, err
	}
	return acquire(ctx)
}

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// redislockLocker is redislock as its README says: a Lock object for each hold, the
// watchdog of "External watchdog" beside it, and Release with a context of its own.
// It waits as the library's example for retries does: every 100 ms.
type redislockLocker struct {
	client *redislock.Client
	name   string
	lease  time.Duration
	renews bool // with the watchdog

	mu    sync.Mutex
	holds map[string]*redislockHold // client → its hold
}

type redislockHold struct {
	lock    *redislock.Lock
	work    context.Context // cancelled when a refresh fails
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the watchdog has ended; nil without one
	refused bool          // because a refresh failed; to be read after ended
}

func newRedislock(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return &redislockLocker{
		client: redislock.New(rdb), name: name, lease: lease, renews: true, holds: map[string]*redislockHold{},
	}, nil
}

// newRedislockUnwatched is the README's first example, which has no watchdog.
func newRedislockUnwatched(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	l, err := newRedislock(rdb, name, lease)
	l.(*redislockLocker).renews = false
	return l, err
}

// Lock waits for the lock.
func (l *redislockLocker) Lock(ctx context.Context) error {
	return l.obtain(ctx, &redislock.Options{RetryStrategy: redislock.LinearBackoff(pollEvery)})
}

// TryLock makes one attempt, which is redislock's default.
func (l *redislockLocker) TryLock(ctx context.Context) (bool, error) {
	err := l.obtain(ctx, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	return err == nil, err
}

func (l *redislockLocker) obtain(ctx context.Context, opt *redislock.Options) error {
	lock, err := l.client.Obtain(ctx, l.name, l.lease, opt)
	if err != nil {
		return said(ctx, err)
	}
	hold := &redislockHold{lock: lock}
	hold.work, hold.cancel = context.WithCancel(context.Background())
	l.mu.Lock()
	l.holds[world.Lane(ctx)] = hold
	l.mu.Unlock()
	if l.renews {
		hold.ended = make(chan struct{})
		go hold.watch(l.lease)
	}
	return nil
}

// watch is the README's watchdog.
func (h *redislockHold) watch(ttl time.Duration) {
	defer close(h.ended)
	t := time.NewTicker(ttl / 3)
	defer t.Stop()
	for {
		select {
		case <-h.work.Done():
			return
		case <-t.C:
			if err := h.lock.Refresh(h.work, ttl, nil); err != nil {
				h.refused = h.work.Err() == nil
				h.cancel()
				return
			}
		}
	}
}

// Unlock ends the work and releases the lock, in the order of the README's two
// deferred calls.
func (l *redislockLocker) Unlock(ctx context.Context) error {
	return l.release(ctx, context.Background())
}

// release gives the hold of that call's client back, with a context of its own.
func (l *redislockLocker) release(ctx, own context.Context) error {
	l.mu.Lock()
	hold := l.holds[world.Lane(ctx)]
	l.mu.Unlock()
	if hold == nil {
		var none *redislock.Lock
		return none.Release(own)
	}
	hold.cancel()
	return hold.lock.Release(own)
}

// Lost is closed when the work's context ends.
func (l *redislockLocker) Lost(ctx context.Context) (ended <-chan struct{}, isLost func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hold := l.holds[world.Lane(ctx)]
	if hold == nil {
		return nil, nil
	}
	return hold.ended, func() bool { return hold.refused }
}

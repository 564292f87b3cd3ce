package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
)

var redislockLibrary = library{
	Name: "redislock", Module: "github.com/bsm/redislock",
	Source: "https://github.com/bsm/redislock/blob/",
	Way:    "Obtain, Release, and the watchdog of its README",
	Subject: failures.Subject{
		Name: "redislock", New: newRedislock(true, false),
		Variants: map[failures.Variant]world.Constructor{
			failures.FixedLease: newRedislock(false, false), // the README's first example, which has no watchdog
		},
		Has: []failures.Feature{failures.Scripts, failures.Watchdog},
	},
	Besides: map[string]string{
		"dog-unlock-race": "nothing waits for the README's watchdog, so a refresh may reach Redis after Release; it does no harm there",
	},
	Promises: map[property]promise{
		excludes: {promised, "Obtain returns ErrNotObtained while somebody has the lock", "redislock.go", 62, "ErrNotObtained"},
		ends:     {promised, "a lock is obtained with a TTL", "redislock.go", 61, "given TTL"},
		renews:   {promised, "the README's watchdog keeps a long-running lock beyond its first TTL", "README.md", 83, "outlives"},
		tellsLoss: {limited, "the work's context is cancelled if a refresh fails: not before, and without the watchdog never",
			"README.md", 103, "work context"},
		tellsEnd: {promised, "Release may return ErrLockNotHeld", "redislock.go", 271, "ErrLockNotHeld"},
		owned:    {promised, "Release deletes a key only if the value is its own", "release.lua", 2, "deletes provided"},
		wakes: {limited, "it asks again as the RetryStrategy says; by default it does not wait",
			"redislock.go", 291, "Default: do not retry"},
		frees: {limited, "the README releases with a context of its own; Release takes any",
			"README.md", 101, "context.Background()"},
		answers: {promised, "ErrNotObtained means that the lock cannot be obtained", "redislock.go", 37, "ErrNotObtained"},
	},
}

// redislockLocker is redislock as its README says: a Lock object for each hold, the
// watchdog of "External watchdog" beside it, and Release with a context of its own.
// It waits as the library's example for retries does: every 100 ms.
type redislockLocker struct {
	*adapt.Holds[*redislockHold]
	client  *redislock.Client
	name    string
	lease   time.Duration
	watched bool
}

func newRedislock(watched, onRequest bool) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		l := &redislockLocker{client: redislock.New(rdb), name: name, lease: lease, watched: watched}
		l.Holds = &adapt.Holds[*redislockHold]{
			Acquire: l.obtain(&redislock.Options{RetryStrategy: redislock.LinearBackoff(pollEvery)}),
			Try:     l.obtain(nil), Taken: redislock.ErrNotObtained,
			Release: func(h *redislockHold, ctx context.Context) error {
				if !onRequest {
					ctx = context.Background()
				}
				h.cancel() // in the order of the README's two deferred calls
				return h.lock.Release(ctx)
			},
			Loss: func(h *redislockHold) (<-chan struct{}, func() bool) {
				return h.ended, func() bool { return h.refused }
			},
		}
		return l, nil
	}
}

type redislockHold struct {
	lock    *redislock.Lock
	work    context.Context // cancelled when a refresh fails
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the watchdog has ended; nil without one
	refused bool          // because a refresh failed; to be read after ended
}

// obtain is an acquire with these options.
func (l *redislockLocker) obtain(options *redislock.Options) func(context.Context) (*redislockHold, error) {
	return func(ctx context.Context) (*redislockHold, error) {
		lock, err := l.client.Obtain(ctx, l.name, l.lease, options)
		if err != nil {
			return nil, said(ctx, err)
		}
		h := &redislockHold{lock: lock}
		h.work, h.cancel = context.WithCancel(context.Background())
		if l.watched {
			h.ended = make(chan struct{})
			go h.watch(l.lease)
		}
		return h, nil
	}
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

package others

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
)

// Redislock is redislock with the watchdog of its README, or without it if a failure needs a lease
// that is not renewed.
var Redislock = failures.Subject{
	Name: "redislock", New: newRedislock(true),
	Variants: map[failures.Variant]world.Constructor{failures.FixedLease: newRedislock(false)},
	Has:      []failures.Feature{failures.Scripts, failures.Watchdog},
}

// newRedislock returns the constructor of a lock that waits as in the library's example for
// retries, and that releases without the caller's context, as in the README.
func newRedislock(renewed bool) world.Constructor {
	return adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		client := redislock.New(rdb)
		obtain := func(options *redislock.Options) func(context.Context) (*redislockHold, error) {
			return func(ctx context.Context) (*redislockHold, error) {
				lock, err := client.Obtain(ctx, name, lease, options)
				if err != nil {
					return nil, withContextError(ctx, err)
				}
				h := &redislockHold{lock: lock}
				h.work, h.cancel = context.WithCancel(context.Background())
				if renewed {
					h.ended = make(chan struct{})
					go h.watch(lease)
				}
				return h, nil
			}
		}
		return &adapters.Holds[*redislockHold]{
			Acquire: obtain(&redislock.Options{RetryStrategy: redislock.LinearBackoff(pollEvery)}),
			Try:     obtain(nil), Taken: redislock.ErrNotObtained,
			Release: func(h *redislockHold, _ context.Context) error {
				h.cancel() // in the order of the README's two deferred calls
				return h.lock.Release(context.Background())
			},
			Loss: func(h *redislockHold) (<-chan struct{}, func() bool) {
				return h.ended, func() bool { return h.refused }
			},
		}, nil
	})
}

type redislockHold struct {
	lock    *redislock.Lock
	work    context.Context // cancelled when a refresh fails
	cancel  context.CancelFunc
	ended   chan struct{} // closed when the watchdog has ended; nil without one
	refused bool          // a refresh failed; read it after ended
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

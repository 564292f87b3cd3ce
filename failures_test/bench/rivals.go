package main

import (
	"context"
	"math"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// rivalLease is the lease of the two libraries that do not renew: longer than a
// lock is held here.
const rivalLease = 60 * time.Second

// openRedislock waits as its own example does: every 100 ms.
func openRedislock(s settings) *locker {
	rdb := goRedis(s.Addr, nil)
	client := redislock.New(rdb)
	return &locker{
		pair: func(name string) func(context.Context) error {
			return func(ctx context.Context) error {
				lock, err := client.Obtain(ctx, name, rivalLease, nil)
				if err != nil {
					return err
				}
				return lock.Release(ctx)
			}
		},
		lock: func(ctx context.Context, name string) (held, error) {
			lock, err := client.Obtain(ctx, name, rivalLease, &redislock.Options{
				RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond),
			})
			if err != nil {
				return held{}, err
			}
			return held{unlock: func() error { return lock.Release(context.WithoutCancel(ctx)) }}, nil
		},
		close: rdb.Close,
	}
}

// openRedsync has one pool, and its default pause between tries. It tries as often
// as it takes; by default it gives up after 32.
func openRedsync(s settings) *locker {
	rdb := goRedis(s.Addr, nil)
	rs := redsync.New(goredis.NewPool(rdb))
	mutex := func(name string) *redsync.Mutex {
		return rs.NewMutex(name, redsync.WithExpiry(rivalLease), redsync.WithTries(math.MaxInt32))
	}
	return &locker{
		pair: func(name string) func(context.Context) error {
			m := mutex(name)
			return func(ctx context.Context) error {
				if err := m.LockContext(ctx); err != nil {
					return err
				}
				_, err := m.UnlockContext(ctx)
				return err
			}
		},
		lock: func(ctx context.Context, name string) (held, error) {
			m := mutex(name)
			if err := m.LockContext(ctx); err != nil {
				return held{}, err
			}
			return held{unlock: func() error {
				_, err := m.UnlockContext(context.WithoutCancel(ctx))
				return err
			}}, nil
		},
		close: rdb.Close,
	}
}

// openRueidislock is set up as its README says for one Redis >= 7.0.5, but waits
// longer for an answer: by default, a lock whose answer takes more than 20 ms gives
// up the key again and then waits for a message that nobody sends. The kind loopKind
// leaves NoLoopTracking at its default.
func openRueidislock(kind string, s settings) (*locker, error) {
	lk, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{s.Addr}},
		KeyMajority:    1,
		NoLoopTracking: kind != loopKind,
		KeyValidity:    s.Lease,
		TryNextAfter:   time.Second,
	})
	if err != nil {
		return nil, err
	}
	lock := func(ctx context.Context, name string) (held, error) {
		holding, cancel, err := lk.WithContext(ctx, name)
		if err != nil {
			return held{}, err
		}
		return held{
			unlock: func() error {
				cancel()
				return nil
			},
			lost: holding.Err,
		}, nil
	}
	return &locker{
		pair: func(name string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, cancel, err := lk.WithContext(ctx, name)
				if err != nil {
					return err
				}
				cancel()
				return nil
			}
		},
		lock: lock,
		close: func() error {
			lk.Close()
			return nil
		},
	}, nil
}

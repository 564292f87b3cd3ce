package columns

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// Adapter6 is the file of the repository that shows stage 6, whose API is its own, to
// the failures.
const Adapter6 = "internal/columns/subject6.go"

// subject6 is stage 6 with the given options.
func subject6(name string, opts ...stage6.Option) failures.Subject {
	with := func(limited, fixed bool) world.Constructor {
		return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			all := append([]stage6.Option{stage6.WithWatchdogTimeout(lease)}, opts...)
			if limited {
				all = append(all, stage6.WithMaxHold(3*lease))
			}
			var lock []stage6.LockOption
			if fixed {
				lock = append(lock, stage6.Lease(lease))
			}
			return newLocker(rdb, name, all, lock)
		}
	}
	return failures.Subject{
		Name: name, New: with(false, false),
		Variants: map[failures.Variant]world.Constructor{failures.FixedLease: with(false, true), failures.Limited: with(true, false)},
		Ignore:   func(key string) bool { return strings.HasSuffix(key, ":token") },
		// What only sends a script for others.
		SkipFrames: []string{"lockkata/stage6_reentrant_pubsub.(*Service).run", "lockkata/stage6_reentrant_pubsub.(*ownership).send"},
		Has: []failures.Feature{
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force,
		},
	}
}

// locker makes stage 6 a Locker.
type locker struct {
	*adapt.Holds[*stage6.Hold]
	svc   *stage6.Service
	mutex *stage6.Mutex
}

func newLocker(rdb redis.UniversalClient, name string, opts []stage6.Option, leases []stage6.LockOption) (failures.Locker, error) {
	svc, err := stage6.NewService(rdb, opts...)
	if err != nil {
		return nil, err
	}
	m, err := svc.Mutex(name)
	if err != nil {
		return nil, err
	}
	lock := func(ctx context.Context) (*stage6.Hold, error) { return m.Lock(ctx, leases...) }
	try := func(ctx context.Context) (*stage6.Hold, error) { return m.TryLock(ctx, leases...) }
	return locker{adapt.NewHolds(lock, try, stage6.ErrLocked, stage6.ErrLost), svc, m}, nil
}

// HoldCount is how often the client holds the lock.
func (l locker) HoldCount(ctx context.Context) (int, error) {
	nested, cancel := l.Nest(ctx)
	defer cancel()
	return l.mutex.HoldCount(nested)
}

// ForceUnlock frees the lock whoever holds it.
func (l locker) ForceUnlock(ctx context.Context) (bool, error) { return l.mutex.ForceUnlock(ctx) }

// Close ends the service.
func (l locker) Close() error { return l.svc.Close() }

package columns

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
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
	with := func(variant failures.Variant) world.Constructor {
		return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			all := append([]stage6.Option{stage6.WithWatchdogTimeout(lease)}, opts...)
			var lock []stage6.LockOption
			switch variant {
			case failures.Limited:
				all = append(all, stage6.WithMaxHold(3*lease))
			case failures.FixedLease: // a third of that of the watchdog, which it must not be taken for
				all, lock = append(all, stage6.WithWatchdogTimeout(3*lease)), append(lock, stage6.Lease(lease))
			}
			l, err := newLocker(rdb, name, all, lock)
			if err == nil && variant == failures.Beside {
				err = l.holdAnother(20 * lease)
			}
			return l, err
		}
	}
	return failures.Subject{
		Name: name, New: with(failures.Default),
		Variants: map[failures.Variant]world.Constructor{
			failures.FixedLease: with(failures.FixedLease), failures.Limited: with(failures.Limited), failures.Beside: with(failures.Beside),
		},
		Ignore: func(key string) bool { return strings.HasSuffix(key, ":token") || strings.Contains(key, another) },
		// What only sends a script for others.
		SkipFrames: []string{"lockkata/stage6_reentrant_pubsub.(*Service).run", "lockkata/stage6_reentrant_pubsub.(*ownership).send"},
		Has: []failures.Feature{
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force,
			failures.Closing,
		},
	}
}

// locker makes stage 6 a Locker.
type locker struct {
	*adapt.Holds[*stage6.Hold]
	svc   *stage6.Service
	mutex *stage6.Mutex
}

func newLocker(rdb redis.UniversalClient, name string, opts []stage6.Option, leases []stage6.LockOption) (l locker, err error) {
	svc, err := stage6.NewService(rdb, opts...)
	if err != nil {
		return l, err
	}
	m, err := svc.Mutex(name)
	if err != nil {
		return l, err
	}
	lock := func(ctx context.Context) (*stage6.Hold, error) { return m.Lock(ctx, leases...) }
	try := func(ctx context.Context) (*stage6.Hold, error) { return m.TryLock(ctx, leases...) }
	return locker{adapt.NewHolds(lock, try, stage6.ErrLocked, stage6.ErrLost), svc, m}, nil
}

// another is in the name of a lock that a process holds besides.
const another = "another:"

// holdAnother takes a lock of the same service that no other process knows.
func (l locker) holdAnother(lease time.Duration) error {
	m, err := l.svc.Mutex(another + uuid.NewString())
	if err == nil {
		_, err = m.TryLock(context.Background(), stage6.Lease(lease))
	}
	return err
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

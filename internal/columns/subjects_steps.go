package columns

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
	step1 "lockkata/stage6_reentrant_pubsub/step1_told"
)

// subject61 is step 6.1.
func subject61() failures.Subject {
	with := func(opts ...step1.Option) world.Constructor {
		return adapt.Holding[*step1.Hold](func(rdb redis.UniversalClient, name string, ttl time.Duration) (*step1.Mutex, error) {
			return step1.NewMutex(rdb, name, ttl, opts...)
		}, step1.ErrLocked, step1.ErrLost)
	}
	return failures.Subject{
		Name: "stage6.1", New: with(),
		Variants: map[failures.Variant]world.Constructor{failures.FixedLease: with(step1.WithoutWatchdog())},
		Has:      []failures.Feature{failures.Scripts, failures.Watchdog},
	}
}

// Package adapters turns locks of other shapes into a [world.Locker], which scenarios can use.
// Choose by what the lock's acquire returns:
//   - nothing but an error, as a Locker does: [Plain], for a constructor that returns its own type
//   - a hold, which has Unlock or Release: [Holding], or a [Holds] for a lock with other method names
//
// [Over] is for a lock on several servers. [With] fixes the options of a constructor. [Nested] and [Around]
// combine two locks. All locks of a process share its go-redis clients (driver.go).
package adapters

import (
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// Plain returns the constructor of a lock that is a Locker already.
func Plain[L world.Locker](newLock func(redis.UniversalClient, string, time.Duration) (L, error)) world.Constructor {
	return func(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
		return newLock(clientsOf(p)[0], name, lease)
	}
}

// With returns the constructor with these options.
func With[L, O any](newLock func(redis.UniversalClient, string, time.Duration, ...O) (L, error), opts ...O,
) func(redis.UniversalClient, string, time.Duration) (L, error) {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (L, error) {
		return newLock(rdb, name, lease, opts...)
	}
}

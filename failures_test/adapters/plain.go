// Package adapters makes a Locker of locks that have another shape: of a constructor that
// returns its own type, of a lock that returns holds, of one that calls its caller back.
package adapters

import (
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// Plain is the constructor of a lock that is a Locker already.
func Plain[L world.Locker](newLock func(redis.UniversalClient, string, time.Duration) (L, error)) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return newLock(rdb, name, lease)
	}
}

// With gives a constructor its options.
func With[L, O any](newLock func(redis.UniversalClient, string, time.Duration, ...O) (L, error), opts ...O,
) func(redis.UniversalClient, string, time.Duration) (L, error) {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (L, error) {
		return newLock(rdb, name, lease, opts...)
	}
}

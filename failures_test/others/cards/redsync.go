package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

var redsyncLibrary = library{
	Name: "redsync", Module: "github.com/go-redsync/redsync/v4",
	Source: "https://github.com/go-redsync/redsync/blob/",
	Way:    "one pool, one Mutex; Lock, Unlock; no renewal: its README shows none",
	Subject: failures.Subject{
		Name: "redsync", New: newRedsync(false),
		Has:         []failures.Feature{failures.Scripts},
		AttributeTo: ofTheCall,
		SkipFrames:  []string{"github.com/go-redsync/redsync/v4/redis/"},
	},
	Promises: map[property]promise{
		excludes: {promised, "nobody else obtains the lock while it is held", "README.md", 55, "no one else"},
		ends:     {promised, "a mutex has an expiry, 8 s by default", "redsync.go", 67, "WithExpiry"},
		renews: {limited, "the README says that the lock is held until it is unlocked; the reference gives it an expiry, " +
			"and leaves Extend to the caller", "mutex.go", 152, "Extend resets"},
		tellsLoss: {limited, "Until tells how long the lock is valid; the holder has to look", "mutex.go", 49, "Until returns"},
		tellsEnd: {promised, "Unlock returns its status, and an error of its own for a lock that has expired",
			"error.go", 16, "ErrLockAlreadyExpired"},
		owned: {promised, "it is the lock of the Redis documentation, which frees only its own value",
			"README.md", 5, "as described"},
		limits: {promised, "a mutex has an expiry, and nothing renews it", "redsync.go", 67, "WithExpiry"},
		wakes:  {limited, "it tries again after a pause of 50 to 250 ms, 32 times by default", "redsync.go", 75, "WithTries"},
		lateGrant: {promised, "it is the lock of the Redis documentation, which counts its validity from before the request",
			"README.md", 5, "as described"},
		cleansUp: {promised, "it is the lock of the Redis documentation, which unlocks after a failed attempt",
			"README.md", 5, "as described"},
		frees:   {promised, "Unlock takes no context", "README.md", 63, "Release the lock"},
		answers: {promised, "ErrFailed when the lock was not acquired, ErrTaken when somebody has it", "error.go", 8, "ErrFailed"},
		outlasts: {limited, "the algorithm is a proposal that was not formally analyzed; understand it first",
			"README.md", 80, "not formally analyzed"},
	},
}

// ofTheCall says that a command is always the call's that is under way: redsync
// sends from a goroutine for each pool.
func ofTheCall([]string) (string, bool) { return "", true }

// redsyncLocker is redsync as its README says: one pool, one Mutex, Lock and
// Unlock. Three options fit it to a scenario: the lease; as many tries as the
// caller's context allows instead of 32; and a pause between them that is not random.
type redsyncLocker struct {
	mutex     *redsync.Mutex
	onRequest bool // Unlock gets the caller's context
}

// redsyncPause is within redsync's default, 50 to 250 ms. No deadline of a scenario
// is a multiple of it: when both fall on one instant, Go is free to see either first.
const redsyncPause = 170 * time.Millisecond

func newRedsync(onRequest bool, more ...redsync.Option) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		options := append([]redsync.Option{
			redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32), redsync.WithRetryDelay(redsyncPause),
		}, more...)
		return &redsyncLocker{redsync.New(goredis.NewPool(rdb)).NewMutex(name, options...), onRequest}, nil
	}
}

// Lock waits for the lock.
func (l *redsyncLocker) Lock(ctx context.Context) error { return said(ctx, l.mutex.LockContext(ctx)) }

// TryLock makes one attempt.
func (l *redsyncLocker) TryLock(ctx context.Context) (bool, error) {
	err := l.mutex.TryLockContext(ctx)
	if taken := new(redsync.ErrTaken); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, said(ctx, err)
}

// Unlock unlocks as the README does, with no context of the caller's.
func (l *redsyncLocker) Unlock(ctx context.Context) error {
	if l.onRequest {
		return released(l.mutex.UnlockContext(ctx))
	}
	return released(l.mutex.Unlock())
}

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
)

// redsyncLocker is redsync as its README says: one pool, one Mutex, Lock and
// Unlock. Three options fit it to a scenario: the lease; as many tries as the
// caller's context allows instead of 32; and a pause between them that is not random.
type redsyncLocker struct{ mutex *redsync.Mutex }

// redsyncPause is within redsync's default, 50 to 250 ms. No deadline of a scenario
// is a multiple of it: when both fall on one instant, Go is free to see either first.
const redsyncPause = 170 * time.Millisecond

func newRedsync(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	rs := redsync.New(goredis.NewPool(rdb))
	return &redsyncLocker{rs.NewMutex(name,
		redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32), redsync.WithRetryDelay(redsyncPause))}, nil
}

// Lock waits for the lock.
func (l *redsyncLocker) Lock(ctx context.Context) error { return said(ctx, l.mutex.LockContext(ctx)) }

// TryLock makes one attempt.
func (l *redsyncLocker) TryLock(ctx context.Context) (bool, error) {
	err := l.mutex.TryLockContext(ctx)
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, said(ctx, err)
}

// Unlock unlocks as the README does, with no context of the caller's.
func (l *redsyncLocker) Unlock(context.Context) error {
	ok, err := l.mutex.Unlock()
	if err == nil && !ok {
		return errNotHeld
	}
	return err
}

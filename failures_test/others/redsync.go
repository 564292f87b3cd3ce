package others

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
)

// Redsync is redsync with one pool and without renewal, as in its README.
var Redsync = failures.Subject{
	Name: "redsync", New: adapters.Plain(newRedsync),
	Has:        []failures.Feature{failures.Scripts},
	SkipFrames: []string{"github.com/go-redsync/redsync/v4/redis/"},
}

type redsyncLocker struct{ mutex *redsync.Mutex }

// redsyncPause is within redsync's default of 50 to 250 ms. No deadline of a scenario is a multiple
// of it: if both ended at the same moment, Go could see either first.
const redsyncPause = 170 * time.Millisecond

// newRedsync sets three options for the scenarios: the lease, as many tries as the caller's
// context allows instead of 32, and a pause between them that is not random.
func newRedsync(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	return redsyncLocker{redsync.New(goredis.NewPool(rdb)).NewMutex(name,
		redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32), redsync.WithRetryDelay(redsyncPause))}, nil
}

// RedsyncOver is redsync with a pool for each of several servers, which is RedLock.
var RedsyncOver = failures.Subject{
	Name: "redsync over five servers", NewOver: adapters.Over(newRedsyncOver),
	Has: Redsync.Has, SkipFrames: Redsync.SkipFrames,
}

// newRedsyncOver is newRedsync with redsync's default pause, from a source that repeats.
func newRedsyncOver(nodes []redis.UniversalClient, name string, lease time.Duration, source rand.Source) (failures.Locker, error) {
	var pools []redsyncredis.Pool
	for _, node := range nodes {
		pools = append(pools, goredis.NewPool(node))
	}
	random := rand.New(source)
	pause := func(int) time.Duration {
		return 50*time.Millisecond + time.Duration(random.Int64N(int64(200*time.Millisecond)))
	}
	return redsyncLocker{redsync.New(pools...).NewMutex(name,
		redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32), redsync.WithRetryDelayFunc(pause))}, nil
}

// Lock waits for the lock.
func (l redsyncLocker) Lock(ctx context.Context) error {
	return withContextError(ctx, l.mutex.LockContext(ctx))
}

// TryLock makes one attempt.
func (l redsyncLocker) TryLock(ctx context.Context) (bool, error) {
	err := l.mutex.TryLockContext(ctx)
	if taken := new(redsync.ErrTaken); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, withContextError(ctx, err)
}

// Unlock releases the lock as the README does, without the caller's context.
func (l redsyncLocker) Unlock(context.Context) error { return released(l.mutex.Unlock()) }

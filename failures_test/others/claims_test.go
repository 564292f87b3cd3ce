package others

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	zero "github.com/zeromicro/go-zero/core/stores/redis"
)

// newRedis returns an embedded Redis and a client.
func newRedis(t *testing.T) (*miniredis.Miniredis, *redis.Client) {
	t.Helper()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return server, rdb
}

func newZeroLock(t *testing.T, server *miniredis.Miniredis) *zero.RedisLock {
	t.Helper()
	store, err := zero.NewRedis(zero.RedisConf{Host: server.Addr(), Type: zero.NodeType})
	require.NoError(t, err)
	lock := zero.NewRedisLock(store, "order:1001")
	lock.SetExpire(30)
	return lock
}

func TestUnlockWithAnEndedContextFreesNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	server, rdb := newRedis(t)
	for library, lock := range map[string]func() (unlock func() error, err error){
		"redsync": func() (func() error, error) {
			mutex := redsync.New(goredis.NewPool(rdb)).NewMutex("order:1001")
			return func() error { _, err := mutex.UnlockContext(ended); return err }, mutex.Lock()
		},
		"redislock": func() (func() error, error) {
			lock, err := redislock.New(rdb).Obtain(t.Context(), "order:1001", time.Minute, nil)
			return func() error { return lock.Release(ended) }, err
		},
		"go-zero": func() (func() error, error) {
			lock := newZeroLock(t, server)
			_, err := lock.Acquire()
			return func() error { _, err := lock.ReleaseCtx(ended); return err }, err
		},
	} {
		t.Run(library, func(t *testing.T) {
			unlock, err := lock()
			require.NoError(t, err)
			require.Error(t, unlock())
			require.True(t, server.Exists("order:1001"))
			server.FlushAll()
		})
	}
}

func TestRedsyncExtendsALostLockWithSetNXOnExtend(t *testing.T) {
	server, rdb := newRedis(t)
	locks := redsync.New(goredis.NewPool(rdb))
	a, b := locks.NewMutex("order:1001", redsync.WithSetNXOnExtend()), locks.NewMutex("order:1001")
	require.NoError(t, a.Lock())
	server.FastForward(time.Minute)
	require.NoError(t, b.Lock())
	_, err := b.Unlock()
	require.NoError(t, err)
	extended, err := a.Extend()
	require.NoError(t, err)
	require.True(t, extended)
}

func TestRedislocksLimitRetryCountsAcrossCalls(t *testing.T) {
	server, rdb := newRedis(t)
	client := redislock.New(rdb)
	_, err := client.Obtain(t.Context(), "order:1001", time.Minute, nil)
	require.NoError(t, err)
	options := &redislock.Options{RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(time.Millisecond), 3)}
	const commands = 3 // of an attempt: EVALSHA, and the two that its script calls
	for _, attempts := range []int{4, 1} {
		before := server.CommandCount()
		_, err = client.Obtain(t.Context(), "order:1001", time.Minute, options)
		require.ErrorIs(t, err, redislock.ErrNotObtained)
		require.Equal(t, attempts*commands, server.CommandCount()-before)
	}
}

func TestFirstReleaseOfGoZeroFreesEveryHold(t *testing.T) {
	server, _ := newRedis(t)
	a, b := newZeroLock(t, server), newZeroLock(t, server)
	for range 2 {
		held, err := a.Acquire()
		require.NoError(t, err)
		require.True(t, held)
	}
	_, err := a.Release()
	require.NoError(t, err)
	held, err := b.Acquire()
	require.NoError(t, err)
	require.True(t, held)
}

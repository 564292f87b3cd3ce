//go:build live

package others

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
)

// realServer returns a client of a new redis-server, and its address.
func realServer(t *testing.T) (*redis.Client, string) {
	t.Helper()
	t.Parallel()
	server := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort})
	rdb := realredis.NewClient(server.Socket())
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb, server.Addr()
}

func TestRedsyncExtendsADeletedKey(t *testing.T) {
	rdb, _ := realServer(t)
	m := redsync.New(goredis.NewPool(rdb)).NewMutex("order:1001")
	require.NoError(t, m.Lock())
	until := m.Until()
	require.NoError(t, rdb.Del(t.Context(), "order:1001").Err())
	ok, err := m.Extend()
	require.False(t, ok)
	require.ErrorContains(t, err, "lock already taken")
	require.Equal(t, until, m.Until())
}

func TestRedsyncSendsTwoCommandsForARefusedTry(t *testing.T) {
	rdb, _ := realServer(t)
	require.NoError(t, rdb.Set(t.Context(), "order:1001", "theirs", 0).Err())
	m := redsync.New(goredis.NewPool(rdb)).NewMutex("order:1001", redsync.WithTries(5), redsync.WithRetryDelay(time.Millisecond))
	require.NoError(t, rdb.ConfigResetStat(t.Context()).Err())
	require.ErrorContains(t, m.Lock(), "lock already taken")
	stats, err := rdb.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	require.Contains(t, stats, "cmdstat_set:calls=5,")
	require.Regexp(t, "cmdstat_evalsha:calls=5,", stats)
}

func TestRedislockWaitsForItsOwnTTLAtMost(t *testing.T) {
	rdb, _ := realServer(t)
	require.NoError(t, rdb.Set(t.Context(), "order:1001", "theirs", 2*time.Second).Err())
	options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(10 * time.Millisecond)}
	_, err := redislock.Obtain(t.Context(), rdb, "order:1001", 300*time.Millisecond, options)
	require.ErrorIs(t, err, redislock.ErrNotObtained)
	require.NotZero(t, rdb.Exists(t.Context(), "order:1001").Val())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = redislock.Obtain(ctx, rdb, "order:1001", 300*time.Millisecond, options)
	require.NoError(t, err, "with a deadline it waits for that one")
}

func TestRedislockTTLOfALostLockIsZero(t *testing.T) {
	rdb, _ := realServer(t)
	lock, err := redislock.Obtain(t.Context(), rdb, "order:1001", time.Minute, nil)
	require.NoError(t, err)
	require.NoError(t, rdb.Set(t.Context(), "order:1001", "theirs", time.Minute).Err())
	ttl, err := lock.TTL(t.Context())
	require.NoError(t, err)
	require.Zero(t, ttl)
}

func TestRueidislockWritesThreeKeys(t *testing.T) {
	rdb, addr := realServer(t)
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{addr}}, NoLoopTracking: true,
	})
	require.NoError(t, err)
	t.Cleanup(locker.Close)
	_, cancel, err := locker.WithContext(t.Context(), "order:1001")
	require.NoError(t, err)
	defer cancel()
	require.Eventually(t, func() bool {
		keys, err := rdb.Keys(t.Context(), "rueidislock:*:order:1001").Result()
		require.NoError(t, err)
		return len(keys) == 3
	}, 10*time.Second, time.Millisecond, strings.Join(rdb.Keys(t.Context(), "*").Val(), " "))
}

//go:build live

package live_test

import (
	"net"
	"regexp"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/world"
)

func failsOver(t *testing.T) world.OwnRedis {
	t.Helper()
	own, end, err := live.FailsOver(t.Context())
	redisserver.Need(t, err)
	t.Cleanup(func() { require.NoError(t, end()) })
	return own
}

func clientOf(t *testing.T, server world.Redis) *redis.Client {
	t.Helper()
	rdb := redisserver.NewClient(server.Addr(), func(o *redis.Options) { o.MaxRetries = -1 })
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

func replicationID(t *testing.T, rdb *redis.Client, field string) string {
	t.Helper()
	info, err := rdb.Info(t.Context(), "replication").Result()
	require.NoError(t, err)
	found := regexp.MustCompile(field + `:(\w+)`).FindStringSubmatch(info)
	require.NotNil(t, found, info)
	return found[1]
}

func TestReplicaThatTakesOverHasWhatWasWrittenBeforeTheRunAndNothingElse(t *testing.T) {
	own := failsOver(t)
	master := clientOf(t, own)
	for range 2 { // the master of the second failover is the replica of the first
		require.NoError(t, master.Set(t.Context(), "before", "1", 0).Err())
		require.NoError(t, own.Begin())
		require.NoError(t, master.Set(t.Context(), "after", "1", 0).Err())
		history := replicationID(t, master, "master_replid")
		old := own.Addr()
		require.NoError(t, own.Failover())
		_, err := net.Dial("unix", old)
		require.Error(t, err, "the old master still answers")
		master = clientOf(t, own)
		require.Equal(t, []string{"before"}, master.Keys(t.Context(), "*").Val())
		require.Equal(t, history, replicationID(t, master, "master_replid2"), "it was a replica of that master")
		require.Equal(t, "master", replicationID(t, master, "role"))
	}
}

func TestFailoverNeedsAReplica(t *testing.T) {
	own := failsOver(t)
	require.ErrorContains(t, own.Failover(), "no replica")
	require.NoError(t, clientOf(t, own).Ping(t.Context()).Err())
}

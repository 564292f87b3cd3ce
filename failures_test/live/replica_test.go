//go:build live

package live

import (
	"net"
	"regexp"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

// startProcess starts a redis-server that prepares a replica at each begin.
func startProcess(t *testing.T) *process {
	t.Helper()
	p, err := start(t.Context())
	redisserver.Need(t, err)
	p.failsOver = true
	t.Cleanup(func() { require.NoError(t, p.close()) })
	return p
}

func clientOf(t *testing.T, p *process) *redis.Client {
	t.Helper()
	rdb := redisserver.NewClient(p.addr(), func(o *redis.Options) { o.MaxRetries = -1 })
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

func TestPromotedReplicaHasOnlyTheDataFromBeforeTheRun(t *testing.T) {
	own := startProcess(t)
	master := clientOf(t, own)
	for range 2 { // the master of the second failover is the replica of the first
		require.NoError(t, master.Set(t.Context(), "before", "1", 0).Err())
		require.NoError(t, own.begin())
		require.NoError(t, master.Set(t.Context(), "after", "1", 0).Err())
		history := replicationID(t, master, "master_replid")
		old := own.addr()
		require.NoError(t, own.failover())
		_, err := net.Dial("unix", old)
		require.Error(t, err, "the old master still answers")
		master = clientOf(t, own)
		require.Equal(t, []string{"before"}, master.Keys(t.Context(), "*").Val())
		require.Equal(t, history, replicationID(t, master, "master_replid2"), "it was a replica of that master")
		require.Equal(t, "master", replicationID(t, master, "role"))
	}
}

func TestFailoverNeedsAReplica(t *testing.T) {
	own := startProcess(t)
	require.ErrorContains(t, own.failover(), "no replica")
	require.NoError(t, clientOf(t, own).Ping(t.Context()).Err())
}

//go:build live

package realredis

import (
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/trace"
)

// startProcess starts a redis-server without replicas.
func startProcess(t *testing.T) *Process {
	t.Helper()
	p, err := Start(t.Context())
	redisserver.Need(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func clientOf(t *testing.T, p *Process) *redis.Client {
	t.Helper()
	rdb := NewClient(p.addr(), func(o *redis.Options) { o.MaxRetries = -1 })
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

func keysOf(t *testing.T, s *redisserver.Server) []string {
	t.Helper()
	rdb := NewClient(s.Socket())
	defer rdb.Close()
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	return keys
}

func TestPromotedReplicaHasOnlyWhatHadArrived(t *testing.T) {
	own := startProcess(t)
	for range 2 { // the master of the second run is a replica of the first one
		require.NoError(t, own.replicate(t.Context(), 2))
		master := clientOf(t, own)
		require.NoError(t, master.FlushAll(t.Context()).Err())
		require.NoError(t, master.Set(t.Context(), "before", "1", 0).Err())
		require.NoError(t, own.disturb(trace.ReplicaDelayed, time.Hour, "R2"))
		require.NoError(t, master.Set(t.Context(), "after", "1", 0).Err())
		require.NoError(t, own.settle(t.Context()))
		other := own.replicas[1].server
		require.ElementsMatch(t, []string{"before", "after"}, keysOf(t, other))
		history := replicationID(t, master, "master_replid")
		old := own.addr()
		require.NoError(t, own.disturb(trace.Promoted, 0, "R2"))
		_, err := net.Dial("unix", old)
		require.Error(t, err, "the old master still answers")
		require.Equal(t, []string{"before"}, keysOf(t, own.master))
		require.Equal(t, []string{"before"}, keysOf(t, other), "it follows the new master")
		require.Equal(t, history, replicationID(t, clientOf(t, own), "master_replid2"), "it was a replica of that master")
	}
}

func TestHealedReplicaGetsWhatItLacks(t *testing.T) {
	own := startProcess(t)
	require.NoError(t, own.replicate(t.Context(), 2))
	r2, r3 := own.replicas[0].server, own.replicas[1].server
	require.NoError(t, own.disturb(trace.ReplicaCut, 0, "R2"))
	require.NoError(t, own.disturb(trace.ReplicaCut, 0, "R3"))
	require.NoError(t, clientOf(t, own).Set(t.Context(), "key", "1", 0).Err())
	require.NoError(t, own.disturb(trace.ReplicaHealed, 0, "R2"))
	require.Equal(t, []string{"key"}, keysOf(t, r2))
	require.Empty(t, keysOf(t, r3))
}

//go:build live

package live_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestSharedRedisIsLeftAsItWas(t *testing.T) {
	foreign := redisserver.ForTest(t, redisserver.Config{}) // used by other programs too
	rdb := realredis.NewClient(foreign.Socket())
	defer rdb.Close()
	require.NoError(t, rdb.Set(t.Context(), "lock:order:1001", "theirs", 0).Err())
	s, err := live.At(t.Context(), foreign.Socket(), 4)
	require.NoError(t, err)
	defer s.Close()
	_, err = s.DiscoverScripts(stages.MustFind("4").Subject)
	require.NoError(t, err)
	var all []catalogue.Failure
	for _, id := range []string{"second-client", "grant-reply-lost", "script-flush", "evicted-or-flushed", "failover-async"} {
		f, ok := catalogue.Find(id)
		require.True(t, ok, id)
		all = append(all, f)
	}
	outcomes := map[string]failures.Outcome{}
	for _, v := range played(t, s, stages.MustFind("4").Subject, all...) {
		outcomes[v.Failure.ID] = v.Outcome
		require.Equal(t, v.Outcome == failures.Elsewhere, strings.Contains(v.Sentence(), "disturb the other programs"), v.Failure.ID)
	}
	require.Equal(t, map[string]failures.Outcome{
		"second-client": failures.Safe, "grant-reply-lost": failures.Broken, "evicted-or-flushed": failures.Limit,
		"script-flush": failures.Elsewhere, "failover-async": failures.Elsewhere, // they disturb other users of the server
	}, outcomes)
	require.Equal(t, []string{"lock:order:1001"}, rdb.Keys(t.Context(), "*").Val())
	require.Equal(t, "theirs", rdb.Get(t.Context(), "lock:order:1001").Val())
}

func TestCloseRemovesProcessesAndFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := servers(t, 2)
	require.NoError(t, s.Close())
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.Zero(t, fleet.Running())
}

func TestRestartedRedisIsEmpty(t *testing.T) {
	f := catalogue.Failure{ID: "restart", Script: func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Restart()
		b.Lock(world.Within(w.Lease / 2))
	}}
	v := played(t, servers(t, 1), stages.MustFind("2").Subject, f)[0]
	require.NoError(t, v.Err)
	require.True(t, oracle.Violates(v.Findings, oracle.Exclusion), "A's key is gone")
}

func TestSameVerdictsAsTheWorld(t *testing.T) {
	s := servers(t, 12)
	for _, stage := range stages.Public() {
		requireSame(t, s, ready(t, stage), catalogue.All...)
	}
}

func TestReplicasHaveTheSameVerdictsAsTheWorld(t *testing.T) {
	s := servers(t, 4)
	for _, lock := range []stages.Stage{stages.MustFind("4"), stages.Wait} {
		requireSame(t, s, ready(t, lock), catalogue.OfReplicas...)
	}
}

package live_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/redisserver"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestForeignRedisKeepsItsDataAndNothingOfOurs(t *testing.T) {
	foreign := redisserver.ForTest(t, redisserver.Config{}) // somebody else uses it
	rdb := redisserver.NewClient(foreign.Socket())
	defer rdb.Close()
	require.NoError(t, rdb.Set(t.Context(), "lock:order:1001", "theirs", 0).Err())
	s, err := live.At(t.Context(), foreign.Socket(), 4)
	require.NoError(t, err)
	defer s.Close()
	var jobs []live.Job
	for _, id := range []string{"second-client", "grant-reply-lost", "script-flush", "evicted-or-flushed", "failover-async"} {
		f, ok := failures.Find(id)
		require.True(t, ok, id)
		jobs = append(jobs, live.Job{Failure: f, Subject: stages.All[3].Subject})
	}
	outcomes := map[string]failures.Outcome{}
	for _, v := range s.Play(jobs) {
		outcomes[v.Failure.ID] = v.Outcome
	}
	require.Equal(t, map[string]failures.Outcome{
		"second-client": failures.Safe, "grant-reply-lost": failures.Broken, "evicted-or-flushed": failures.Inherent,
		"script-flush": failures.Elsewhere, "failover-async": failures.Elsewhere, // they disturb the others
	}, outcomes)
	require.Equal(t, []string{"lock:order:1001"}, rdb.Keys(t.Context(), "*").Val())
	require.Equal(t, "theirs", rdb.Get(t.Context(), "lock:order:1001").Val())
}

func TestAddressWhereNoRedisAnswersIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, err = live.At(t.Context(), addr, 1)
	require.ErrorContains(t, err, "no Redis that could be used at "+addr)
}

func TestWithoutAnInstalledServerTheErrorNamesTheRemedy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := live.Start(context.Background(), 1)
	require.ErrorIs(t, err, redisserver.ErrMissing)
	require.ErrorContains(t, err, "apt install redis-server")
}

func TestNothingIsLeftWhenTheServersAreClosed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := servers(t, 2)
	require.NoError(t, s.Close())
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.Error(t, exec.Command("pgrep", "-f", os.Getenv("TMPDIR")).Run(), "a process still runs there")
}

func TestRestartedRedisIsEmptyAndAnswers(t *testing.T) {
	s := servers(t, 1)
	f := failures.Failure{ID: "restart", Script: func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Restart()
		b.Lock(world.Within(w.Lease / 2))
	}}
	v := s.Play([]live.Job{{Failure: f, Subject: stages.All[1].Subject}})[0]
	require.NoError(t, v.Err)
	require.True(t, oracle.Convicts(v.Findings, oracle.Exclusion), "B finds nothing of A's")
}

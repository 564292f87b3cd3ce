package live_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/redisserver"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// foreign is a Redis that somebody else uses.
func foreign(t *testing.T) (addr string, rdb *redis.Client) {
	t.Helper()
	addr, end, err := live.Socket(t.Context())
	if errors.Is(err, redisserver.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, end()) })
	rdb = redis.NewClient(&redis.Options{
		Network: "unix", Addr: addr,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	require.NoError(t, rdb.Set(t.Context(), "lock:order:1001", "theirs", 0).Err())
	return addr, rdb
}

func TestForeignRedisKeepsItsDataAndNothingOfOurs(t *testing.T) {
	addr, rdb := foreign(t)
	s, err := live.At(t.Context(), addr, 4)
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

package stage6_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// A full Redis refuses what needs memory. What ends a hold, or keeps it, must not.
func TestFullRedisStillRenewsReentersAndUnlocks(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex()
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	s.Config("maxmemory", "1")
	require.ErrorContains(t, s.admin.Set(t.Context(), "k", "v", 0).Err(), "OOM")
	requireSurvives(t, outer, 3*lease/2)
	innermost := lock(t, m, inner.Context())
	require.Equal(t, []string{"3"}, s.HoldCounts())
	require.NoError(t, innermost.Unlock())
	require.NoError(t, inner.Unlock())
	require.Equal(t, []string{"1"}, s.HoldCounts())
	require.NoError(t, outer.Unlock())
	require.Zero(t, s.admin.Exists(t.Context(), key).Val())
}

func TestLockOnAFullRedisSaysSoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Config("maxmemory", "1")
	m := s.Mutex()
	_, err := m.TryLock(t.Context())
	require.ErrorContains(t, err, "stage6: lock lock:{order:1001}: OOM")
	_, err = m.Lock(t.Context())
	require.ErrorContains(t, err, "OOM", "it does not wait for memory")
	require.Empty(t, s.admin.Keys(t.Context(), "*").Val())
	s.Config("maxmemory", "0")
	require.NoError(t, lock(t, m, t.Context()).Unlock())
}

func TestWaiterOnAFullRedisIsToldWhenTheLockIsFree(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(endless)), t.Context())
	waiting := startLock(t, s.Mutex(final.WithWatchdogTimeout(endless)))
	s.AwaitWaiters(1)
	s.Config("maxmemory", "1")
	require.NoError(t, hold.Unlock())
	select {
	case o := <-waiting:
		require.ErrorContains(t, o.err, "OOM")
	case <-time.After(soon):
		require.FailNow(t, "it still waits")
	}
}

// Redis throws keys away that have a time to live, those that end next first. The
// next renewal finds no lock.
func TestEvictedLockIsNoticedAtTheNextRenewal(t *testing.T) {
	t.Parallel()
	s := start(t, "--maxmemory-policy", "volatile-ttl")
	m := s.Mutex()
	hold := lock(t, m, t.Context())
	s.Config("maxmemory", "1")
	requireLost(t, hold)
	require.Contains(t, s.admin.Info(t.Context(), "stats").Val(), "evicted_keys:2\r\n", "the lock and its token")
	s.Config("maxmemory", "0")
	require.Greater(t, lock(t, m, t.Context()).Token(), hold.Token())
}

// SCRIPT FLUSH at any moment: each script is sent whole when Redis has forgotten it.
func TestScriptFlushCostsNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	var flushing sync.WaitGroup
	flushing.Go(func() {
		for t.Context().Err() == nil {
			_ = s.admin.ScriptFlush(t.Context()).Err() // the next one comes
			time.Sleep(time.Millisecond)
		}
	})
	t.Cleanup(flushing.Wait) // the test's context is over by then
	m := s.Mutex()
	until := time.Now().Add(time.Second)
	for time.Now().Before(until) {
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		require.NoError(t, inner.Unlock())
		require.NoError(t, outer.Unlock())
	}
	hold := lock(t, m, t.Context())
	requireSurvives(t, hold, 3*lease/2)
	require.NoError(t, hold.Unlock())
}

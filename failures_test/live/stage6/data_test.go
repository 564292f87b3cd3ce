//go:build live

package stage6_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// While Redis is down, the waiter receives no messages. It subscribes again after the restart.
func TestHolderAndWaiterSurviveRestartsWithoutDataLoss(t *testing.T) {
	t.Parallel()
	s := start(t, "--appendonly", "yes", "--appendfsync", "always")
	m := s.Mutex()
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	waiting := startLock(t, s.Mutex(forever))
	for range 2 {
		s.AwaitWaiters(1)
		s.restart()
	}
	s.AwaitWaiters(1)
	requireSurvives(t, outer, 3*lease/2)
	require.Equal(t, []string{"2"}, s.HoldCounts())
	require.Empty(t, waiting, "it should still wait")
	require.NoError(t, inner.Unlock())
	require.NoError(t, outer.Unlock())
	next := requireHeld(t, waiting)
	require.Greater(t, next.Token(), outer.Token())
	require.NoError(t, next.Unlock())
}

// A full Redis refuses commands that need memory. Renewals and unlocks do not. A waiter gets the
// error when the lock is free.
func TestFullRedisStillRenewsReentersAndUnlocks(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex()
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	waiting := startLock(t, s.Mutex())
	s.AwaitWaiters(1)
	s.Set("maxmemory", "1")
	require.ErrorContains(t, s.admin.Set(t.Context(), "k", "v", 0).Err(), "OOM")
	requireSurvives(t, outer, 3*lease/2)
	innermost := lock(t, m, inner.Context())
	require.Equal(t, []string{"3"}, s.HoldCounts())
	require.NoError(t, innermost.Unlock())
	require.NoError(t, inner.Unlock())
	require.Equal(t, []string{"1"}, s.HoldCounts())
	require.NoError(t, outer.Unlock())
	require.ErrorContains(t, receive(t, waiting, "it still waits").err, "OOM")
	require.Zero(t, s.admin.Exists(t.Context(), key).Val())
}

// The key keeps its name and owner, so nothing was lost. PERSIST removes the lease; the next
// renewal sets one again.
func TestHoldSurvivesRenameAndPersist(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex()
	hold := lock(t, m, t.Context())
	require.NoError(t, s.admin.Rename(t.Context(), key, "elsewhere").Err())
	require.NoError(t, s.admin.Rename(t.Context(), "elsewhere", key).Err())
	require.NoError(t, lock(t, m, hold.Context()).Unlock())
	require.NoError(t, s.admin.Persist(t.Context(), key).Err())
	eventually(t, func() bool { return s.admin.PTTL(t.Context(), key).Val() > 0 }, "it has no lease")
	require.NoError(t, hold.Unlock())
}

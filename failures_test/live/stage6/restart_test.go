package stage6_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// restart kills the server with kill -9 and starts it again.
func (s *server) restart() {
	s.t.Helper()
	s.Kill()
	require.NoError(s.t, s.Launch(s.t.Context()))
}

func TestRestartWithoutPersistenceIsNoticedByTheHolder(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(), t.Context())
	s.restart()
	require.Zero(t, s.admin.Exists(t.Context(), key).Val())
	requireLost(t, hold)
}

// The counter of the tokens is gone as well: the server's clock keeps them rising.
func TestTokensRiseThoughRedisLostTheLastOne(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex(final.WithWatchdogTimeout(short))
	var last int64
	for range 3 {
		hold := lock(t, m, t.Context())
		require.Greater(t, hold.Token(), last)
		last = hold.Token()
		s.restart()
		require.Empty(t, s.admin.Keys(t.Context(), "*").Val())
		require.Greater(t, lock(t, s.Mutex(), t.Context()).Token(), last)
		s.admin.FlushAll(t.Context())
		requireLost(t, hold)
	}
}

// The stale holder's Unlock must not free what the next one holds.
func TestUnlockAfterARestartLeavesTheNextHolderAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	stale := lock(t, s.Mutex(), t.Context())
	s.restart()
	next := lock(t, s.Mutex(), t.Context())
	require.ErrorIs(t, stale.Unlock(), final.ErrLost)
	requireSurvives(t, next, 3*lease/2)
	require.NoError(t, next.Unlock())
}

func TestHoldSurvivesARestartThatLosesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, "--appendonly", "yes", "--appendfsync", "always")
	m := s.Mutex()
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	for range 2 {
		s.restart()
		_, err := s.Mutex().TryLock(t.Context())
		require.ErrorIs(t, err, final.ErrLocked)
	}
	requireSurvives(t, outer, 3*lease/2)
	require.Equal(t, []string{"2"}, s.HoldCounts())
	require.NoError(t, inner.Unlock())
	require.NoError(t, outer.Unlock())
	require.Greater(t, lock(t, m, t.Context()).Token(), outer.Token())
}

// Whoever waits has nobody to hear from while Redis is away, and hears again from
// the one that comes back.
func TestWaiterSurvivesARestart(t *testing.T) {
	t.Parallel()
	s := start(t, "--appendonly", "yes", "--appendfsync", "always")
	holder := s.Mutex(final.WithWatchdogTimeout(endless))
	hold := lock(t, holder, t.Context())
	m, hook := hooked(t, s, false, final.WithWatchdogTimeout(endless))
	waiting := startLock(t, m)
	eventually(t, func() bool { return hook.Count("acquire") == 2 }, "it does not look again once it listens")
	s.restart()
	s.AwaitWaiters(1)
	requireWaiting(t, waiting)
	require.NoError(t, hold.Unlock())
	require.NoError(t, requireHeld(t, waiting).Unlock())
}

//go:build live

package stage6_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// stop makes the server stand still until it goes on, at the end of the test at the
// latest.
func (s *server) stop() {
	s.t.Helper()
	require.NoError(s.t, s.Stop())
	s.t.Cleanup(func() { _ = s.Continue() })
}

// The pause covers a whole renewal, which gives up.
func TestHoldSurvivesARedisThatStandsStillForLessThanTheLease(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(), t.Context())
	s.stop()
	requireSurvives(t, hold, 11*lease/20)
	require.NoError(t, s.Continue())
	requireSurvives(t, hold, lease)
	require.NoError(t, hold.Unlock())
}

// Nobody can hold the lock while Redis stands still: the holder is told before.
func TestHolderOfALockOnARedisThatStandsStillIsToldBeforeAnybodyElseHolds(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(short)), t.Context())
	waiting := startLock(t, s.Mutex())
	s.AwaitWaiters(1)
	s.stop()
	requireTold(t, hold)
	require.Empty(t, waiting, "it should still wait")
	require.NoError(t, s.Continue())
	next := requireHeld(t, waiting)
	require.Greater(t, next.Token(), hold.Token())
	require.ErrorIs(t, hold.Unlock(), final.ErrLost)
	requireSurvives(t, next, lease/2)
	require.NoError(t, next.Unlock())
}

// The stale holder's Unlock must not free what the next one holds.
func TestRestartWithoutPersistenceIsALossAndLeavesTheNextHolderAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	stale := lock(t, s.Mutex(), t.Context())
	s.restart()
	require.Zero(t, s.admin.Exists(t.Context(), key).Val())
	next := lock(t, s.Mutex(), t.Context())
	require.Greater(t, next.Token(), stale.Token(), "though Redis lost the last one")
	requireLost(t, stale)
	requireSurvives(t, next, 3*lease/2)
	require.NoError(t, next.Unlock())
}

// Nothing was sent before Redis came back without the lock, so it was not this
// Unlock that freed it.
func TestUnlockThatNeverReachedTheOldRedisIsErrLost(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(4*lease)), t.Context())
	s.Kill()
	ended := make(chan error, 1)
	go func() { ended <- hold.Unlock() }()
	time.Sleep(750 * time.Millisecond) // go-redis gives up a connection after five attempts
	require.NoError(t, s.Launch(t.Context()))
	require.ErrorIs(t, <-ended, final.ErrLost)
}

// Whoever waits has nobody to hear from while Redis is away, and hears again from
// the one that comes back.
func TestHolderAndWaiterSurviveRestartsThatLoseNothing(t *testing.T) {
	t.Parallel()
	s := start(t, "--appendonly", "yes", "--appendfsync", "always")
	m, rdb, hook := s.Mutex(), s.Client(), &failingHook{}
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	rdb.AddHook(hook)
	waiting := startLock(t, mutexOn(t, rdb, forever))
	for tries := range int64(2) {
		eventually(t, func() bool { return hook.seen.Load() >= 2+tries }, "it does not try again once it listens")
		s.restart()
		s.AwaitWaiters(1)
	}
	requireSurvives(t, outer, 3*lease/2)
	require.Equal(t, []string{"2"}, s.HoldCounts())
	require.Empty(t, waiting, "it should still wait")
	require.NoError(t, inner.Unlock())
	require.NoError(t, outer.Unlock())
	next := requireHeld(t, waiting)
	require.Greater(t, next.Token(), outer.Token())
	require.NoError(t, next.Unlock())
}

// A full Redis refuses what needs memory. What ends a hold, or keeps it, must not;
// who waits is told of the reason when the lock is free.
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

func TestLockOnAFullRedisSaysSoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Set("maxmemory", "1")
	m := s.Mutex()
	_, err := m.TryLock(t.Context())
	require.ErrorContains(t, err, "stage6: lock lock:{order:1001}: OOM")
	_, err = m.Lock(t.Context())
	require.ErrorContains(t, err, "OOM", "it does not wait for memory")
	require.Empty(t, s.admin.Keys(t.Context(), "*").Val())
	s.Set("maxmemory", "0")
	require.NoError(t, lock(t, m, t.Context()).Unlock())
}

// What an operator takes away is lost: the holder is told, who waits gets the lock
// when the lease that it saw is over, and the stale holder can do it no harm.
func TestLockThatAnOperatorTookAwayIsLostAndGoesToTheNextOne(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]any{
		"FLUSHALL": {"FLUSHALL"},
		"FLUSHDB":  {"FLUSHDB", "ASYNC"},
		"DEL":      {"DEL", key},
		"UNLINK":   {"UNLINK", key, tokenKey},
		"RENAME":   {"RENAME", key, "lock:{order:1001}:old"},
		"MOVE":     {"MOVE", key, "1"},
		"HDEL":     {"EVAL", `return redis.call("HDEL", KEYS[1], redis.call("HKEYS", KEYS[1])[1])`, "1", key},
		"EXPIRE":   {"PEXPIRE", key, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			hold := lock(t, s.Mutex(), t.Context())
			waiting := startLock(t, s.Mutex())
			s.AwaitWaiters(1)
			require.NoError(t, s.admin.Do(t.Context(), command...).Err())
			requireLost(t, hold)
			next := requireHeld(t, waiting)
			require.Greater(t, next.Token(), hold.Token())
			requireSurvives(t, next, lease/2)
			require.NoError(t, next.Unlock())
			eventually(t, func() bool { return s.admin.Exists(t.Context(), key, "lock:{order:1001}:old").Val() == 0 }, "it stays for ever")
		})
	}
}

// The lock comes back under its name, with its owner: nothing was lost. PERSIST
// takes the lease away: the next renewal gives one again.
func TestLockThatAnOperatorMovedAwayAndBackOrMadeEternalIsStillHeld(t *testing.T) {
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

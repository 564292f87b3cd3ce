package stage6_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// What an operator takes away is lost: the holder is told, who waits gets the lock
// when the lease that he saw is over, and the stale holder can do it no harm.
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

// The lock comes back under its name, with its owner: nothing was lost.
func TestLockThatAnOperatorMovedAwayAndBackIsStillHeld(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex(final.WithWatchdogTimeout(endless))
	hold := lock(t, m, t.Context())
	require.NoError(t, s.admin.Rename(t.Context(), key, "elsewhere").Err())
	require.NoError(t, s.admin.Rename(t.Context(), "elsewhere", key).Err())
	require.NoError(t, lock(t, m, hold.Context()).Unlock())
	require.NoError(t, hold.Unlock())
}

// PERSIST takes the lease away: the next renewal gives one again.
func TestLockThatAnOperatorMadeEternalGetsItsLeaseAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(), t.Context())
	require.NoError(t, s.admin.Persist(t.Context(), key).Err())
	eventually(t, func() bool { return s.admin.PTTL(t.Context(), key).Val() > 0 }, "it has no lease")
	require.NoError(t, hold.Unlock())
}

package stage6_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// The hook fails when Redis has granted the lock: an error that the lock does not
// know is no proof that nothing happened.
func TestAcquireThatAHookFailsLateIsGivenBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	m, hook := hooked(t, s, true, final.WithWatchdogTimeout(endless))
	hook.Fail("acquire", 1)
	_, err := m.TryLock(t.Context())
	require.ErrorIs(t, err, errHook)
	requireHeld(t, startLock(t, s.Mutex()))
}

func TestUnlockAndReentryThatAHookFailsLateAreRepeated(t *testing.T) {
	t.Parallel()
	s := start(t)
	m, hook := hooked(t, s, true)
	outer := lock(t, m, t.Context())
	hook.Fail("count", 1)
	inner := lock(t, m, outer.Context())
	require.Equal(t, []string{"2"}, s.HoldCounts())
	require.NoError(t, inner.Unlock())
	hook.Fail("release", 1)
	require.NoError(t, outer.Unlock())
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

// A script that Redis breaks off keeps what it has written: a lock without a lease
// would be there for ever.
func TestAcquireThatLacksARightLeavesNoLockForEver(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+hset", "+set", "+pexpire", "+get", "+time"} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			_, err := mutexOn(t, s.User(without(right))).TryLock(t.Context())
			require.Error(t, err)
			require.NotEqual(t, time.Duration(-1), s.admin.PTTL(t.Context(), key).Val(), "it has no lease")
			requireHeld(t, startLock(t, s.Mutex()))
		})
	}
}

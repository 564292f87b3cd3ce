package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

func (s *server) stop() {
	s.t.Helper()
	require.NoError(s.t, s.Stop())
	s.t.Cleanup(s.goOn)
}

func (s *server) goOn() {
	require.NoError(s.t, s.Continue())
}

// The pause covers a whole renewal, which gives up.
func TestHoldSurvivesARedisThatStandsStillForLessThanTheLease(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(), t.Context())
	s.stop()
	requireSurvives(t, hold, 11*lease/20)
	s.goOn()
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
	select {
	case <-hold.Context().Done():
	case <-time.After(soon):
		require.FailNow(t, "the holder is not told of its loss")
	}
	require.Equal(t, final.ErrLost, context.Cause(hold.Context()))
	requireWaiting(t, waiting)
	s.goOn()
	next := requireHeld(t, waiting)
	require.Greater(t, next.Token(), hold.Token())
	require.ErrorIs(t, hold.Unlock(), final.ErrLost)
	requireSurvives(t, next, lease/2)
	require.NoError(t, next.Unlock())
}

// The acquire waits in the server's socket while its caller gives up: Redis grants
// it later, to nobody.
func TestAcquireThatRedisReadsTooLateIsGivenBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex(final.WithWatchdogTimeout(endless))
	require.NoError(t, lock(t, m, t.Context()).Unlock()) // the connection is there
	s.stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := m.Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	s.goOn()
	hold := requireHeld(t, startLock(t, s.Mutex()))
	require.NoError(t, hold.Unlock())
}

// Unlock is bounded by a lease also where Redis does not answer.
func TestUnlockOnARedisThatStandsStillIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(), t.Context())
	s.stop()
	ended := make(chan error, 1)
	go func() { ended <- hold.Unlock() }()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-time.After(soon):
		require.FailNow(t, "Unlock does not return")
	}
	s.goOn()
	requireHeld(t, startLock(t, s.Mutex()))
}

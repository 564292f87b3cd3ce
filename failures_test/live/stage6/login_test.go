package stage6_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

func password(p string) func(*redis.Options) {
	return func(o *redis.Options) { o.Password = p }
}

// protected is a server that wants a password.
func protected(t *testing.T) *server {
	t.Helper()
	s := start(t)
	s.Config("requirepass", "right")
	return s
}

func TestLockWorksWithAPassword(t *testing.T) {
	t.Parallel()
	s := protected(t)
	hold := lock(t, mutexOn(t, s.Client(password("right"))), t.Context())
	waiting := startLock(t, mutexOn(t, s.Client(password("right"))))
	s.AwaitWaiters(1)
	requireSurvives(t, hold, 3*lease/2)
	require.NoError(t, hold.Unlock())
	require.NoError(t, requireHeld(t, waiting).Unlock())
}

func TestWrongPasswordOrNoneIsSaidAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := protected(t)
	for given, want := range map[string]string{
		"wrong": "WRONGPASS invalid username-password pair or user is disabled.",
		"":      "NOAUTH Authentication required.",
	} {
		m := mutexOn(t, s.Client(password(given)))
		_, err := m.TryLock(t.Context())
		require.ErrorContains(t, err, "stage6: lock "+key+": "+want)
		_, err = m.Lock(t.Context())
		require.ErrorContains(t, err, want)
	}
}

// The password changes while a lock is held. Connections that are open stay so; a
// new one is refused, and the holder is told.
func TestHoldIsLostWhenItsPasswordIsNoLongerValid(t *testing.T) {
	t.Parallel()
	s := protected(t)
	admin := s.Client(password("right"))
	hold := lock(t, mutexOn(t, s.Client(password("right")), final.WithWatchdogTimeout(short)), t.Context())
	require.NoError(t, admin.ConfigSet(t.Context(), "requirepass", "another").Err())
	require.NoError(t, admin.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err())
	requireLost(t, hold)
}

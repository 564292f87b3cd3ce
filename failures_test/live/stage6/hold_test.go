package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

const (
	key      = "lock:{order:1001}"
	channel  = "lock__channel:{order:1001}"
	tokenKey = "lock:{order:1001}:token"

	// lease is that of a lock unless a test says otherwise: a hold that has to
	// survive gets over a machine that stands still for most of a second.
	lease = 4 * time.Second
	// short is the lease of a hold that is to be lost.
	short = time.Second / 2
	// endless is a lease that ends in no test: what happens within soon did not
	// wait for it.
	endless = 5 * time.Minute
	// soon is a generous bound for what takes milliseconds on an idle machine.
	soon = 20 * time.Second
)

// lock takes a lock that is free, or held by the owner that ctx carries.
func lock(t *testing.T, m *final.Mutex, ctx context.Context) *final.Hold {
	t.Helper()
	hold, err := m.TryLock(ctx)
	require.NoError(t, err)
	return hold
}

// outcome is what a Lock on a goroutine of its own came to.
type outcome struct {
	hold *final.Hold
	err  error
}

// startLock waits for the lock on a goroutine of its own.
func startLock(t *testing.T, m *final.Mutex) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		hold, err := m.Lock(t.Context())
		done <- outcome{hold, err}
	}()
	return done
}

func requireWaiting(t *testing.T, waiting chan outcome) {
	t.Helper()
	require.Empty(t, waiting, "it should still wait")
}

// requireHeld asks that a Lock gets its hold soon.
func requireHeld(t *testing.T, waiting chan outcome) *final.Hold {
	t.Helper()
	select {
	case o := <-waiting:
		require.NoError(t, o.err)
		return o.hold
	case <-time.After(soon):
		require.FailNow(t, "it still waits")
		return nil
	}
}

// requireLost asks that the holder is told soon, by its context, that its hold is
// lost, and hears the same from Unlock.
func requireLost(t *testing.T, hold *final.Hold) {
	t.Helper()
	select {
	case <-hold.Context().Done():
	case <-time.After(soon):
		require.FailNow(t, "the holder is not told of its loss")
	}
	require.Equal(t, final.ErrLost, context.Cause(hold.Context()))
	require.ErrorIs(t, hold.Unlock(), final.ErrLost)
}

// requireSurvives asks that a hold goes on for that long.
func requireSurvives(t *testing.T, hold *final.Hold, d time.Duration) {
	t.Helper()
	select {
	case <-hold.Context().Done():
		require.FailNow(t, "the hold has ended", "%v", context.Cause(hold.Context()))
	case <-time.After(d):
	}
}

func eventually(t *testing.T, condition func() bool, message string) {
	t.Helper()
	require.Eventually(t, condition, soon, 2*time.Millisecond, message)
}

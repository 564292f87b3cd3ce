package stage6_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestContextEndsWithTheRelease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		require.NoError(t, hold.Context().Err())
		require.NoError(t, hold.Unlock())
		require.Equal(t, context.Canceled, context.Cause(hold.Context()))
	})
}

func TestContextCarriesTheValuesAndTheDeadlineOfItsParent(t *testing.T) {
	type traceID struct{}
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		parent, cancel := context.WithTimeout(context.WithValue(t.Context(), traceID{}, "7"), time.Minute)
		defer cancel()
		hold := lock(t, r.Mutex(), parent)
		require.Equal(t, "7", hold.Context().Value(traceID{}))
		want, _ := parent.Deadline()
		deadline, ok := hold.Context().Deadline()
		require.True(t, ok)
		require.Equal(t, want, deadline)
	})
}

// The wait of TryLockFor is no deadline for the work.
func TestWaitOfTryLockForDoesNotEndTheHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold, err := r.Mutex().TryLockFor(t.Context(), time.Second)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.NoError(t, hold.Context().Err())
	})
}

func TestCancelledParentNeitherReleasesNorStopsRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		parent, cancel := context.WithCancel(t.Context())
		hold := lock(t, m, parent)
		cancel()
		require.ErrorIs(t, hold.Context().Err(), context.Canceled)
		time.Sleep(time.Hour)
		require.Equal(t, []string{"1"}, r.HoldCounts())
		require.True(t, m.IsHeld(hold.Context()))
		require.NoError(t, hold.Unlock())
		require.False(t, r.Exists(key))
	})
}

// Nothing gets through to Redis. The lease counts from when the acquire was sent,
// a second before Redis ran it.
func TestHoldIsLostALeaseAfterItsAcquireWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var lost []string
		m := r.Mutex(stage6.WithOnLost(func(name string) { lost = append(lost, name) }))
		r.Delay("acquire", time.Second)
		began := time.Now()
		hold := lock(t, m, t.Context())
		r.Delay("renew", time.Hour)
		waitForEnd(t, hold)
		require.Equal(t, lease, time.Since(began))
		require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
		require.Equal(t, time.Second, r.TTL(key), "Redis counts from later")
		synctest.Wait()
		require.Equal(t, []string{lockName}, lost)
		require.False(t, m.IsHeld(hold.Context()))
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
		time.Sleep(2 * time.Hour) // the renewals that were under way come to nothing
	})
}

func TestHoldIsLostALeaseAfterItsLastRenewalWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		began := time.Now()
		hold := lock(t, r.Mutex(), t.Context())
		r.Delay("renew", 2*time.Second)
		time.Sleep(13 * time.Second) // the renewal of 10 s got through at 12 s
		r.Delay("renew", time.Hour)
		waitForEnd(t, hold)
		require.Equal(t, 10*time.Second+lease, time.Since(began))
		time.Sleep(2 * time.Hour)
	})
}

func TestHoldIsLostALeaseAfterItsLastReentryWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		began := time.Now()
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		r.Delay("renew", time.Hour)
		time.Sleep(5 * time.Second)
		r.Delay("count", 2*time.Second)
		lock(t, m, hold.Context())
		waitForEnd(t, hold)
		require.Equal(t, 5*time.Second+lease, time.Since(began))
		time.Sleep(2 * time.Hour)
	})
}

func TestLossEndsTheContextsOfAllHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		r.Del(key)
		time.Sleep(lease / 3) // the next renewal notices
		synctest.Wait()
		for _, hold := range []*stage6.Hold{inner, outer} {
			require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
			require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
			require.ErrorIs(t, hold.Unlock(), stage6.ErrNotHeld)
		}
	})
}

func TestUnlockThatFindsAnotherOwnerIsErrLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		a, b := r.Mutex(), r.Mutex()
		hold := lock(t, a, t.Context())
		r.Del(key)
		lock(t, b, t.Context())
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
		require.Equal(t, []string{"1"}, r.HoldCounts(), "B's")
	})
}

func TestUnlockSaysWhatRedisAnswered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Refuse("release", "READONLY You can't write against a read only replica.")
		require.ErrorContains(t, hold.Unlock(), "stage6: unlock lock:{order:1001}: READONLY")
		time.Sleep(lease)
		require.False(t, r.Exists(key), "it is not renewed any more")
		require.Zero(t, r.Count("renew"))
	})
}

func TestUnlockIsBoundedWhenRedisIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Delay("release", time.Hour)
		began := time.Now()
		require.Error(t, hold.Unlock())
		require.LessOrEqual(t, time.Since(began), lease)
		time.Sleep(2 * time.Hour)
	})
}

func TestNoRenewalAfterUnlockReturned(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		time.Sleep(25 * time.Second)
		require.NoError(t, hold.Unlock())
		r.Forget()
		time.Sleep(time.Hour)
		require.Empty(t, r.Sent())
	})
}

// A renewal is under way when the last hold is released: the delete waits for it.
func TestUnlockWaitsForTheRenewalUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Delay("renew", 2*time.Second)
		time.Sleep(11 * time.Second)
		require.NoError(t, hold.Unlock())
		require.Equal(t, []sent{{0, "acquire"}, {10 * time.Second, "renew"}, {12 * time.Second, "release"}}, r.Sent())
	})
}

func TestTokensRise(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		a, b := r.Mutex(), r.Mutex()
		var last int64
		for range 5 { // at one moment
			for _, m := range []*stage6.Mutex{a, b} {
				hold := lock(t, m, t.Context())
				require.Greater(t, hold.Token(), last)
				last = hold.Token()
				require.NoError(t, hold.Unlock())
			}
		}
	})
}

func TestTokensRiseAlsoAfterRedisLostThem(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		a, b := r.Mutex(), r.Mutex()
		first := lock(t, a, t.Context())
		time.Sleep(time.Millisecond)
		r.FlushAll()
		require.Greater(t, lock(t, b, t.Context()).Token(), first.Token())
	})
}

func TestRefusedAcquireUsesUpNoToken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		_, err := r.Mutex().TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		last, err := r.Get(tokenKey)
		require.NoError(t, err)
		require.Equal(t, last, formatted(hold.Token()))
		require.Equal(t, 24*time.Hour, r.TTL(tokenKey))
	})
}

// The reply to the release is lost. The second attempt finds nothing, inside the
// lease: it was the first that freed the lock.
func TestUnlockWhoseReplyWasLostSucceeds(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Of(world.OpUnlock, world.Write)).Drop()
		a.Unlock()
	})
	require.Equal(t, "", resultOf(t, trace, "A", world.OpUnlock).Error)
	require.Equal(t, 2, executions(trace, "release"))
}

// play runs a scenario with this lock in the controlled world.
func play(t *testing.T, scenario func(*world.World)) *world.Trace {
	t.Helper()
	return playWith(t, world.Config{}, scenario)
}

func playWith(t *testing.T, config world.Config, scenario func(*world.World)) *world.Trace {
	t.Helper()
	subject := stages.All[5].Subject
	scripts, err := failures.Rehearse(t, subject)
	require.NoError(t, err)
	for _, name := range []string{"count", "force"} { // no part of an ordinary day
		scripts = append(scripts, source(t, name))
	}
	config.New, config.Ignore, config.Scripts = subject.New, subject.Ignore, scripts
	trace, err := world.Run(t, config, scenario)
	require.NoError(t, err)
	return trace
}

// resultOf is what the client's last call of op told it.
func resultOf(t *testing.T, trace *world.Trace, client, op string) (last world.Result) {
	t.Helper()
	found := false
	for _, e := range trace.Events {
		if e.Kind == world.Returned && e.Client == client && e.Op == op {
			last, found = *e.Result, true
		}
	}
	require.True(t, found, "%s of %s did not come back", op, client)
	return last
}

// executions is how often Redis ran a script.
func executions(trace *world.Trace, script string) int {
	n := 0
	for _, e := range trace.Events {
		if e.Kind == world.Executed && len(e.Command) > 1 && e.Command[1] == script {
			n++
		}
	}
	return n
}

package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestReentryCountsInRedis(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		require.Equal(t, []string{"1"}, r.HoldCounts())
		inner := lock(t, m, outer.Context())
		require.Equal(t, []string{"2"}, r.HoldCounts())
		require.NoError(t, inner.Unlock())
		require.Equal(t, []string{"1"}, r.HoldCounts())
		require.NoError(t, outer.Unlock())
		require.False(t, r.Exists(key))
	})
}

func TestReentryAndPartialUnlockGiveTheWholeLeaseAndNeverLess(t *testing.T) {
	for _, opts := range [][]stage6.LockOption{nil, {stage6.Lease(time.Hour)}} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			m := r.Mutex()
			outer := lock(t, m, t.Context(), opts...)
			if opts == nil { // the lease is renewed
				time.Sleep(6 * time.Second)
				inner := lock(t, m, outer.Context())
				require.Equal(t, lease, r.TTL(key))
				time.Sleep(3 * time.Second)
				require.NoError(t, inner.Unlock())
				require.Equal(t, lease, r.TTL(key))
			}
			r.SetTTL(key, 2*time.Hour)
			inner := lock(t, m, outer.Context())
			require.Equal(t, 2*time.Hour, r.TTL(key))
			require.NoError(t, inner.Unlock())
			require.Equal(t, 2*time.Hour, r.TTL(key))
		})
	}
}

// The first try of the re-entry may have been counted, and the later ones are refused.
func TestReentryThatEndsInAnAnswerAfterALostReplyIsCountedAgain(t *testing.T) {
	run := asLocker.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		counts := world.Of(trace.OpLock, world.Write)
		tries := 0
		a.After(counts).Drop()
		a.Before(func(c world.Command) bool {
			if counts(c) {
				tries++
			}
			return counts(c) && tries > 1
		}).Always().Fail(loading)
		require.False(t, a.Lock().Held())
		w.Sleep(time.Second)
		a.HoldCount()
	})
	require.Equal(t, 1, run.Returned(t, "A", trace.OpCount).Result.Count)
}

// Redis does not answer a re-entry. Another re-entry of that owner waits as long as its
// caller wants, and a TryLock hardly at all.
func TestLimitedReentryDoesNotWaitForOneThatHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		r.Delay("count", time.Hour)
		hanging := startLock(m, outer.Context())
		began := time.Now()
		_, err := m.TryLockFor(outer.Context(), 100*time.Millisecond)
		require.ErrorIs(t, err, stage6.ErrUnanswered)
		require.Equal(t, 100*time.Millisecond, time.Since(began))
		began = time.Now()
		_, err = m.TryLock(outer.Context())
		require.ErrorIs(t, err, stage6.ErrUnanswered)
		require.LessOrEqual(t, time.Since(began), lease/60)
		require.NoError(t, outer.Context().Err())
		r.Delay("count", 0)
		<-hanging
		lock(t, m, outer.Context())
	})
}

// By design, goroutines that use the context of one hold share that hold.
func TestGoroutinesWithOneHeldContextAreInsideTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		one, other := startLock(m, hold.Context()), startLock(m, hold.Context())
		requireHeld(t, one)
		requireHeld(t, other)
		require.Equal(t, []string{"3"}, r.HoldCounts())
	})
}

func TestReentryKeepsTheLeaseOfTheFirstHold(t *testing.T) {
	const refusal = "stage6: lock lock:{order:1001}: a re-entry keeps the lease of the first hold, and cannot have one of 10s"
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		renewed := lock(t, m, t.Context())
		_, err := m.Lock(renewed.Context(), stage6.Lease(10*time.Second))
		require.EqualError(t, err, refusal)
		require.NoError(t, renewed.Unlock())

		fixed := lock(t, m, t.Context(), stage6.Lease(20*time.Second))
		_, err = m.Lock(fixed.Context(), stage6.Lease(10*time.Second))
		require.EqualError(t, err, refusal)
		lock(t, m, fixed.Context(), stage6.Lease(20*time.Second))
		lock(t, m, fixed.Context())
		require.Equal(t, []string{"3"}, r.HoldCounts())
		time.Sleep(20 * time.Second)
		require.False(t, r.Exists(key), "the re-entries did not renew it")
	})
}

// The context of a released inner hold still comes from the outer one, which is live.
func TestReleasedInnerHoldDoesNotHideTheOuterOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		innermost := lock(t, m, inner.Context())
		after := context.WithoutCancel(innermost.Context())
		require.NoError(t, innermost.Unlock())
		require.NoError(t, inner.Unlock())
		require.True(t, m.IsHeld(after))
		again := lock(t, m, after)
		require.Equal(t, outer.Token(), again.Token())
		require.NoError(t, again.Unlock())
		require.NoError(t, outer.Unlock())
		require.False(t, m.IsHeld(after))
	})
}

// The reply to a renewal comes after the reply to a re-entry that was sent later. The lease counts
// from the re-entry.
func TestReplyToAnEarlierRenewalDoesNotShortenTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m, began := r.Mutex(), time.Now()
		hold := lock(t, m, t.Context())
		r.Delay("renew", 2*time.Second)
		time.Sleep(11 * time.Second)
		lock(t, m, hold.Context())
		r.Delay("renew", time.Hour)
		waitForEnd(t, hold)
		require.Equal(t, 11*time.Second+lease, time.Since(began))
	})
}

// Redis answers no re-entry. One with a limited wait is sent once, and takes a sixth of the lease at most.
func TestLimitedReentryIsNotRepeatedAfterItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = -1 }))
		m := mutexOf(t, svc, lockName)
		outer := lock(t, m, t.Context())
		r.Delay("count", time.Hour)
		began := time.Now()
		_, err := m.TryLockFor(outer.Context(), time.Second)
		require.Error(t, err)
		require.NotErrorIs(t, err, stage6.ErrLocked)
		require.LessOrEqual(t, since(began), lease/6)
		r.Delay("count", 0)
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"1"}, r.HoldCounts(), "a count that it may have raised is set again")
		require.NoError(t, outer.Unlock())
	})
}

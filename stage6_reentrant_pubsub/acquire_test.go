package stage6_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestAcquireThatArrivesAfterItsCallerGaveUpIsCleanedUp(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		r.Delay("acquire", 2*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Lock(ctx)
		require.Error(t, err)
		r.Delay("acquire", 0)
		time.Sleep(5 * time.Second)
		require.False(t, r.Exists(key), "leaked for %v", r.TTL(key))
	})
}

func TestTryLockForWithoutPatienceTriesOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		_, err := r.Mutex().TryLockFor(t.Context(), 0)
		require.NoError(t, err)
	})
}

func TestTryLockForOfASilentRedisIsNoErrLocked(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		r.Delay("acquire", time.Minute)
		_, err := r.Mutex().TryLockFor(t.Context(), time.Second)
		require.NotErrorIs(t, err, stage6.ErrLocked, "nobody has said so")
		time.Sleep(time.Hour)
	})
}

func TestTryLockForOfASlowReentryIsNoErrLocked(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		h := lock(t, m, t.Context())
		r.Delay("count", 3*time.Second)
		_, err := m.TryLockFor(h.Context(), time.Second)
		require.NotErrorIs(t, err, stage6.ErrLocked, "the caller holds it")
		r.Delay("count", 0)
		time.Sleep(time.Minute)
	})
}

func TestDeadlineInFlightIsTheContextsError(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		r.Delay("acquire", time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Mutex().Lock(ctx)
		defer time.Sleep(time.Hour)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestGrantThatCameTooLateDoesNotRefuseTheNextAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client(func(o *redis.Options) { o.ReadTimeout = time.Hour })
		svc, err := stage6.NewService(rdb)
		require.NoError(t, err)
		defer svc.Close()
		r.Delay("acquire", 31*time.Second)
		w := make(chan error, 1)
		go func() { _, err := mutexOf(t, svc, lockName).TryLock(t.Context()); w <- err }()
		time.Sleep(10 * time.Second)
		r.Delay("acquire", 0)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		require.NoError(t, <-w, "nobody else was there")
	})
}

func TestLeaseHasWholeMillisecondsOnBothSides(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		h := lock(t, r.Mutex(), t.Context(), stage6.Lease(50*time.Millisecond+900*time.Microsecond))
		time.Sleep(50*time.Millisecond + 100*time.Microsecond)
		_, err := r.Mutex().TryLock(t.Context())
		require.True(t, errors.Is(err, stage6.ErrLocked) || h.Context().Err() != nil, "both are inside")
	})
}

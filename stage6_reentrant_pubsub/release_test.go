package stage6_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// A hold that many release at one moment is released once. Convicts a check of
// "released" that is not one step with setting it.
func TestHoldThatManyReleaseIsReleasedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		for _, hold := range []*stage6.Hold{inner, outer} {
			results := make(chan error, 50)
			for range cap(results) {
				go func() { results <- hold.Unlock() }()
			}
			released := 0
			for range cap(results) {
				if err := <-results; err == nil {
					released++
				} else {
					require.ErrorIs(t, err, stage6.ErrNotHeld)
				}
			}
			require.Equal(t, 1, released)
			require.Equal(t, hold == inner, r.Exists(key))
		}
		require.Equal(t, 1, r.Count("release"))
	})
}

// Who was refused has nothing in his hands with which to free another's lock, and
// his context is nobody's.
func TestStrangerHasNothingToReleaseWith(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		strangers := []context.Context{t.Context(), context.WithoutCancel(t.Context()), lock(t, mutexOf(t, r.Service(), "order:2"), t.Context()).Context()}
		for _, stranger := range strangers {
			refused, err := m.TryLock(stranger)
			require.ErrorIs(t, err, stage6.ErrLocked)
			require.Nil(t, refused)
			require.False(t, m.IsHeld(stranger))
			count, err := m.HoldCount(stranger)
			require.NoError(t, err)
			require.Zero(t, count)
		}
		require.True(t, m.IsHeld(hold.Context()))
		require.Equal(t, []string{"1"}, r.HoldCounts())
	})
}

// Two services of one process, also on one client, are two owners, and closing one
// leaves the other's holds.
func TestServicesOnOneClientAreTwoOwners(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		one, err := stage6.NewService(rdb)
		require.NoError(t, err)
		defer one.Close()
		two, err := stage6.NewService(rdb)
		require.NoError(t, err)
		hold := lock(t, mutexOf(t, one, lockName), t.Context())
		other := mutexOf(t, two, lockName)
		require.False(t, other.IsHeld(hold.Context()))
		count, err := other.HoldCount(hold.Context())
		require.NoError(t, err)
		require.Zero(t, count)
		waiting := startLock(other, hold.Context())
		requireWaiting(t, waiting)
		require.NoError(t, two.Close())
		require.ErrorIs(t, (<-waiting).err, stage6.ErrClosed)
		require.NoError(t, hold.Context().Err())
		require.Equal(t, []string{"1"}, r.HoldCounts())
		require.NoError(t, hold.Unlock())
	})
}

// Unlock ends the context before it asks Redis, so the cause of a loss that only
// Unlock finds is not ErrLost. Everybody else is told.
func TestLossThatUnlockFindsIsReportedByUnlock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var told []string
		m := r.Mutex(
			stage6.WithOnLost(func(name string) { told = append(told, "OnLost "+name) }),
			stage6.WithObserver(stage6.Observer{
				Released: func(name string, _ time.Duration) { told = append(told, "released "+name) },
				Lost:     func(name string) { told = append(told, "lost "+name) },
			}))
		hold := lock(t, m, t.Context())
		r.Del(key)
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
		synctest.Wait()
		require.Equal(t, []string{"lost order:1001", "OnLost order:1001"}, told)
		require.Equal(t, context.Canceled, context.Cause(hold.Context()))
	})
}

func TestLossThatAPartialUnlockFindsEndsTheOtherHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		r.Del(key)
		require.ErrorIs(t, inner.Unlock(), stage6.ErrLost)
		require.Equal(t, stage6.ErrLost, context.Cause(outer.Context()))
		require.ErrorIs(t, outer.Unlock(), stage6.ErrLost)
	})
}

// Work that ends its own goroutine, as t.FailNow does, releases the lock.
func TestGoexitInDoReleases(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = m.Do(t.Context(), func(context.Context) error {
				runtime.Goexit()
				return nil
			})
			panic("Do has come back")
		}()
		<-ended
		require.False(t, r.Exists(key))
		lock(t, m, t.Context())
	})
}

func TestPanicInNestedDoReleasesEveryHoldAndGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m, ink := r.Mutex(), errors.New("no ink")
		require.PanicsWithValue(t, ink, func() {
			_ = m.Do(t.Context(), func(ctx context.Context) error {
				return m.Do(ctx, func(context.Context) error { panic(ink) })
			})
		})
		require.False(t, r.Exists(key))
		r.Forget()
		time.Sleep(time.Hour)
		require.Empty(t, r.Sent(), "nothing is renewed")
	})
}

// The panic goes on also where the lock cannot be released.
func TestPanicInDoGoesOnWhenTheLockIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		require.PanicsWithValue(t, "no ink", func() {
			_ = r.Mutex().Do(t.Context(), func(context.Context) error {
				r.Del(key)
				panic("no ink")
			})
		})
	})
}

package stage6_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestTryLockOfALockThatSomebodyElseHoldsIsErrLocked(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		hold, err := r.Mutex().TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		require.Nil(t, hold)
	})
}

func TestTryLockIsOneCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		_, err := r.Mutex().TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		require.Equal(t, []sent{{0, "acquire"}, {0, "acquire"}}, r.Sent())
	})
}

func TestTryLockForIsErrLockedAfterTheWaitAndNotBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		began := time.Now()
		_, err := r.Mutex().TryLockFor(t.Context(), 5*time.Second)
		require.ErrorIs(t, err, stage6.ErrLocked)
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestTryLockForGetsALockThatIsFreedInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		time.AfterFunc(3*time.Second, func() { _ = hold.Unlock() }) // the next line shows that it worked
		began := time.Now()
		_, err := r.Mutex().TryLockFor(t.Context(), 5*time.Second)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestTryLockForEndsWithTheErrorOfItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Mutex().TryLockFor(ctx, 5*time.Second)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, stage6.ErrLocked)
	})
}

func TestLockEndsTheMomentItsContextDoes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := r.Mutex().Lock(ctx)
		require.EqualError(t, err, "stage6: wait for lock:{order:1001}: context deadline exceeded")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestLockEndsWhenItsContextIsCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		waiting := startLock(r.Mutex(), ctx)
		cancel()
		synctest.Wait()
		require.ErrorIs(t, (<-waiting).err, context.Canceled)
	})
}

func TestLockWithAContextThatIsOverSendsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.Mutex().Lock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = r.Mutex().TryLock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, r.Sent())
	})
}

func TestLeaseIsFixed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context(), stage6.Lease(10*time.Second))
		require.Equal(t, 10*time.Second, r.TTL(key))
		waitForEnd(t, hold)
		require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
		require.Equal(t, []sent{{0, "acquire"}}, r.Sent())
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
	})
}

func TestNextHoldDoesNotInheritAFixedLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		require.NoError(t, lock(t, m, t.Context(), stage6.Lease(10*time.Second)).Unlock())
		hold := lock(t, m, t.Context())
		require.Equal(t, lease, r.TTL(key))
		time.Sleep(2 * lease)
		require.NoError(t, hold.Context().Err(), "it is renewed")
	})
}

func TestLeaseTooShortIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		_, err := m.Lock(t.Context(), stage6.Lease(29*time.Millisecond))
		require.EqualError(t, err, "stage6: lease 29ms is too short: the shortest is 30ms")
		lock(t, m, t.Context(), stage6.Lease(30*time.Millisecond))
	})
}

func TestDoRunsTheWorkInsideTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		require.NoError(t, m.Do(t.Context(), func(ctx context.Context) error {
			require.True(t, m.IsHeld(ctx))
			return nil
		}))
		require.False(t, r.Exists(key))
	})
}

func TestDoReturnsTheErrorOfTheWork(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		failed := errors.New("the order is invalid")
		require.ErrorIs(t, r.Mutex().Do(t.Context(), func(context.Context) error { return failed }), failed)
		require.False(t, r.Exists(key))
	})
}

func TestDoDoesNotRunTheWorkWithoutTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.Mutex().Do(ctx, func(context.Context) error { panic("not inside") })
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestPanicInDoReleasesAndGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		require.PanicsWithValue(t, "no ink", func() {
			_ = m.Do(t.Context(), func(context.Context) error { panic("no ink") })
		})
		require.False(t, r.Exists(key))
	})
}

func TestDoReturnsErrLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		stopped := errors.New("stopped")
		err := r.Mutex().Do(t.Context(), func(ctx context.Context) error {
			r.Del(key)
			<-ctx.Done()
			return stopped
		})
		require.ErrorIs(t, err, stage6.ErrLost)
		require.ErrorIs(t, err, stopped)
	})
}

func TestForceUnlockFreesWhateverIsHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m, admin := r.Mutex(), r.Mutex()
		outer := lock(t, m, t.Context())
		lock(t, m, outer.Context())
		freed, err := admin.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.True(t, freed)
		require.False(t, r.Exists(key))
		freed, err = admin.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.False(t, freed, "nobody holds it")
		time.Sleep(lease / 3)
		synctest.Wait()
		require.Equal(t, stage6.ErrLost, context.Cause(outer.Context()), "its next renewal tells the holder")
	})
}

func TestQuestionsAboutALock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m, stranger := r.Mutex(), r.Mutex()
		requireState(t, m, t.Context(), state{})
		outer := lock(t, m, t.Context())
		time.Sleep(4 * time.Second)
		requireState(t, m, outer.Context(), state{locked: true, held: true, count: 1, left: 26 * time.Second})
		requireState(t, m, t.Context(), state{locked: true, left: 26 * time.Second})
		requireState(t, stranger, outer.Context(), state{locked: true, left: 26 * time.Second})
		inner := lock(t, m, outer.Context())
		requireState(t, m, outer.Context(), state{locked: true, held: true, count: 2, left: lease})
		require.NoError(t, outer.Unlock())
		requireState(t, m, inner.Context(), state{locked: true, held: true, count: 1, left: lease})
		require.NoError(t, inner.Unlock())
		requireState(t, m, inner.Context(), state{})
	})
}

// state is what a lock answers to somebody's questions.
type state struct {
	locked, held bool
	count        int
	left         time.Duration
}

func requireState(t *testing.T, m *stage6.Mutex, ctx context.Context, want state) {
	t.Helper()
	ctx = context.WithoutCancel(ctx) // a question may be asked after the hold
	locked, err := m.IsLocked(ctx)
	require.NoError(t, err)
	count, err := m.HoldCount(ctx)
	require.NoError(t, err)
	left, err := m.RemainingTTL(ctx)
	require.NoError(t, err)
	require.Equal(t, want, state{locked, m.IsHeld(ctx), count, left})
	require.Equal(t, lockName, m.Name())
}

func TestKeyThatIsNoHashIsExplained(t *testing.T) {
	const explained = "stage6: lock lock:{order:1001}: the key holds no lock of this kind, but something else, such as a lock of another library: "
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		require.NoError(t, r.Set(key, "a lock of stage 5"))
		_, err := r.Mutex().Lock(t.Context())
		require.ErrorContains(t, err, explained)
		require.ErrorContains(t, err, "WRONGTYPE")
	})
}

func TestErrorOfRedisIsAnErrorAndNoRefusal(t *testing.T) {
	const full = "OOM command not allowed when used memory > 'maxmemory'."
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		for name, try := range map[string]func() (*stage6.Hold, error){
			"Lock":       func() (*stage6.Hold, error) { return m.Lock(t.Context()) },
			"TryLock":    func() (*stage6.Hold, error) { return m.TryLock(t.Context()) },
			"TryLockFor": func() (*stage6.Hold, error) { return m.TryLockFor(t.Context(), time.Second) },
		} {
			r.Refuse("acquire", full)
			_, err := try()
			require.ErrorContains(t, err, "stage6: lock lock:{order:1001}: "+full, name)
			require.NotErrorIs(t, err, stage6.ErrLocked, name)
		}
	})
}

// The acquire is granted, and its reply is lost: what it got is given back.
func TestAcquireOfUnknownOutcomeIsGivenBack(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.TryLock()
		b.TryLock()
	})
	require.NotEmpty(t, resultOf(t, trace, "A", world.OpTryLock).Error)
	require.True(t, resultOf(t, trace, "B", world.OpTryLock).Held)
}

// A re-entry whose reply is lost leaves the outer hold as it is.
func TestReentryOfUnknownOutcomeLeavesTheOuterHold(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.After(world.Of(world.OpTryLock, world.Write)).Drop()
		a.TryLock() // sent once more: the count is absolute
		a.HoldCount()
		a.Unlock()
		b.TryLock()
		a.Unlock()
	})
	require.Equal(t, 2, resultOf(t, trace, "A", world.OpCount).Count)
	require.False(t, resultOf(t, trace, "B", world.OpTryLock).Held)
	require.Empty(t, resultOf(t, trace, "A", world.OpUnlock).Error)
}

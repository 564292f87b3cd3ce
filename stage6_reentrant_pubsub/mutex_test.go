package stage6_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestTryLockIsOneCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		lock(t, r.Mutex(), t.Context())
		hold, err := r.Mutex().TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		require.Nil(t, hold)
		require.Equal(t, []sent{{0, "acquire"}, {0, "acquire"}}, r.Sent())
	})
}

func TestTryLockForIsErrLockedAfterTheWaitAndNotBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		lock(t, r.Mutex(), t.Context())
		m := r.Mutex()
		for _, wait := range []time.Duration{math.MinInt64, -1, 0, 1, 5 * time.Second} {
			began, before := time.Now(), r.Count("acquire")
			_, err := m.TryLockFor(t.Context(), wait)
			require.ErrorIs(t, err, stage6.ErrLocked, wait)
			require.Equal(t, max(wait, 0), time.Since(began))
			require.Greater(t, r.Count("acquire"), before, "it tries once at least")
		}
	})
}

func TestTryLockForEndsWithTheErrorOfItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		lock(t, r.Mutex(), t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Mutex().TryLockFor(ctx, 5*time.Second)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, stage6.ErrLocked)
	})
}

func TestLeaseIsFixed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context(), stage6.Lease(10*time.Second))
		require.Equal(t, 10*time.Second, r.TTL(key))
		waitForEnd(t, hold)
		require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
		require.Equal(t, 3, r.Count("renew"), "it is looked at, and not renewed")
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
	})
}

func TestNextHoldDoesNotInheritAFixedLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		require.NoError(t, lock(t, m, t.Context(), stage6.Lease(10*time.Second)).Unlock())
		hold := lock(t, m, t.Context())
		require.Equal(t, lease, r.TTL(key))
		time.Sleep(2 * lease)
		require.NoError(t, hold.Context().Err(), "it is renewed")
	})
}

func TestLeaseTooShortIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		for d, text := range map[time.Duration]string{
			0: "0s", -time.Second: "-1s", 1: "0s", 30*time.Millisecond - 1: "29ms",
			math.MinInt64: "-2562047h47m16.854s", // it is truncated to whole milliseconds
		} {
			_, err := m.Lock(t.Context(), stage6.Lease(d))
			require.EqualError(t, err, "stage6: lease "+text+" is too short: the shortest is 30ms")
		}
		require.Empty(t, r.Sent())
		lock(t, m, t.Context(), stage6.Lease(0), stage6.Lease(30*time.Millisecond)) // the last one counts
	})
}

func TestPanicInDoReleasesAndGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m, ink := r.Mutex(), errors.New("no ink")
		require.PanicsWithValue(t, ink, func() {
			_ = m.Do(t.Context(), func(ctx context.Context) error {
				return m.Do(ctx, func(context.Context) error { panic(ink) })
			})
		})
		require.False(t, r.Exists(key))
		require.PanicsWithValue(t, ink, func() {
			_ = m.Do(t.Context(), func(context.Context) error {
				r.Del(key) // the lock cannot be released
				panic(ink)
			})
		})
	})
}

func TestDoReturnsErrLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
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
	inBubble(t, func(t *testing.T, r *redisNode) {
		m, admin := r.Mutex(), r.Mutex()
		outer := lock(t, m, t.Context())
		lock(t, m, outer.Context())
		waiting := startLock(r.Mutex(), t.Context())
		freed, err := admin.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.True(t, freed)
		require.NoError(t, requireHeld(t, waiting).Unlock())
		freed, err = admin.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.False(t, freed, "the lock is free")
		time.Sleep(lease / 3)
		settle()
		require.Equal(t, stage6.ErrLost, context.Cause(outer.Context()), "its next renewal tells the holder")
	})
}

func TestQuestionsAboutALock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
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

// state holds the answers of a lock's methods.
type state struct {
	locked, held bool
	count        int
	left         time.Duration
}

func requireState(t *testing.T, m *stage6.Mutex, ctx context.Context, want state) {
	t.Helper()
	ctx = context.WithoutCancel(ctx) // so that it also works after the hold
	locked, err := m.IsLocked(ctx)
	require.NoError(t, err)
	count, err := m.HoldCount(ctx)
	require.NoError(t, err)
	left, err := m.RemainingTTL(ctx)
	require.NoError(t, err)
	require.Equal(t, want, state{locked, m.IsHeld(ctx), count, left})
	require.Equal(t, lockName, m.Name())
}

// A held lock is never reported as free: not without a lease, not with one that is too
// long for a Duration, not in the last millisecond of one.
func TestRemainingTTLOfAHeldLockIsNotZero(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		remaining := func() time.Duration {
			left, err := m.RemainingTTL(t.Context())
			require.NoError(t, err)
			return left
		}
		r.HSet(key, "careless:1", "1")
		require.Equal(t, stage6.NoLease, remaining())
		require.NoError(t, r.Client().PExpire(t.Context(), key, lease).Err())
		require.Equal(t, lease, remaining())
		r.Answer("PTTL", ":9000000000000000000\r\n")
		require.Equal(t, stage6.NoLease, remaining())
		r.Answer("PTTL", ":9223372036854\r\n") // the longest for a Duration
		require.Less(t, remaining(), stage6.NoLease)
		r.Answer("PTTL", ":0\r\n")
		require.Positive(t, remaining())
		r.Answer("PTTL")
		r.Del(key)
		require.Zero(t, remaining())
	})
}

// Each reply takes longer than the lease, so no grant is valid.
func TestLeaseThatIsTooShortForTheWayToRedisIsAnError(t *testing.T) {
	const tooShort = "stage6: lock lock:{order:1001}: the grant came after its lease of 40ms was over: the lease is too short for the way to Redis"
	for name, take := range map[string]way{
		"TryLock": func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) {
			return m.TryLock(ctx, stage6.Lease(40*time.Millisecond))
		},
		"TryLockFor": func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) {
			return m.TryLockFor(ctx, 100*time.Millisecond, stage6.Lease(40*time.Millisecond))
		},
		"Lock": func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) {
			return m.Lock(ctx, stage6.Lease(40*time.Millisecond))
		},
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			r.Delay("acquire", 50*time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			_, err := take(r.Mutex(), ctx)
			require.ErrorContains(t, err, tooShort, name)
			require.NotErrorIs(t, err, stage6.ErrLocked)
			require.Less(t, time.Since(began), time.Second)
			require.LessOrEqual(t, r.Count("acquire"), 3)
			time.Sleep(2 * lease)
			require.Equal(t, r.Count("acquire"), r.Count("release"), "each grant is freed once")
			require.False(t, r.Exists(key))
		})
	}
}

// Callers give up while their acquire is on its way, and Redis refuses it. Their clean-ups find
// nothing. They go on for the lease that the callers asked for, with pauses that double.
func TestCleanUpOfALongLeaseSendsFewCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.HSet(key, "somebody:1", "1")
		m := r.Mutex()
		r.Delay("acquire", 100*time.Millisecond)
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, err := m.TryLock(ctx, stage6.Lease(20*time.Minute))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		time.Sleep(24*time.Hour + time.Minute)
		require.LessOrEqual(t, r.Count("release"), 20*(15*60/5+6))
		r.Forget()
		time.Sleep(20 * time.Minute)
		require.Empty(t, r.Sent())
	})
}

func TestCleanUpThatFailsIsLoggedAndRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log strings.Builder
		m := r.Mutex(stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		r.Refuse("acquire", "")
		r.Refuse("release", loading)
		_, err := m.TryLock(t.Context())
		require.Error(t, err)
		time.Sleep(2 * lease)
		require.Greater(t, r.Count("release"), 1)
		require.Equal(t, 1, strings.Count(log.String(), "clean-up after acquires of unknown outcome failed"), log.String())
	})
}

// Do returns the error of the work unchanged, and accepts a Lease.
func TestDoReturnsTheErrorOfTheWorkAsItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		err := r.Mutex().Do(t.Context(), func(context.Context) error {
			require.Equal(t, 10*time.Second, r.TTL(key))
			return io.EOF
		}, stage6.Lease(10*time.Second))
		require.True(t, err == io.EOF)
	})
}

func TestAnswerThatIsNoTokenIsNoHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Answer("acquire", ":0\r\n")
		hold, err := r.Mutex().TryLock(t.Context())
		require.EqualError(t, err, "stage6: lock lock:{order:1001}: Redis answered 0, which is neither a token nor a refusal")
		require.Nil(t, hold)
	})
}

package stage6_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestWatchdogTimeoutIsTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex(stage6.WithWatchdogTimeout(-1), stage6.WithWatchdogTimeout(6*time.Second)) // the last one counts
		lock(t, m, t.Context())
		require.Equal(t, 6*time.Second, r.TTL(key))
		time.Sleep(2 * time.Second)
		require.Equal(t, []sent{{0, "acquire"}, {2 * time.Second, "renew"}}, r.Sent())
		require.Equal(t, 6*time.Second, r.TTL(key))
	})
}

func TestMaxHoldEndsAHoldThatIsRenewed(t *testing.T) {
	for _, longest := range []time.Duration{1, 45 * time.Second} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			began := time.Now()
			hold := lock(t, r.Mutex(stage6.WithMaxHold(longest)), t.Context())
			waitForEnd(t, hold)
			require.Equal(t, longest, time.Since(began))
			require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
			r.Forget()
			time.Sleep(lease + time.Millisecond)
			require.False(t, r.Exists(key))
			require.Empty(t, r.Sent())
		})
	}
}

func TestMaxHoldEndsOnlyRenewedHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		fixed := lock(t, r.Mutex(stage6.WithMaxHold(10*time.Second)), t.Context(), stage6.Lease(time.Minute))
		time.Sleep(59 * time.Second)
		require.NoError(t, fixed.Context().Err())
		require.NoError(t, fixed.Unlock())
		for _, unlimited := range []time.Duration{math.MaxInt64, 0, -time.Second} {
			hold := lock(t, r.Mutex(stage6.WithMaxHold(unlimited)), t.Context())
			time.Sleep(time.Hour)
			require.NoError(t, hold.Context().Err())
			require.NoError(t, hold.Unlock())
		}
	})
}

// The hold ends before Lock returns, so the caller has no hold to release.
func TestHoldThatEndsBeforeLockReturnsIsFreed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Refuse("release", loading) // once
		hold, err := r.Mutex(stage6.WithMaxHold(time.Nanosecond)).Lock(slowValues{t.Context()})
		require.ErrorIs(t, err, stage6.ErrLost)
		require.Nil(t, hold)
		time.Sleep(time.Second)
		require.False(t, r.Exists(key), "left for %v", r.TTL(key))
	})
}

// The lock is free as soon as the work that took too long ends.
func TestUnlockAfterMaxHoldFrees(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex(stage6.WithMaxHold(45 * time.Second))
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		waitForEnd(t, inner)
		require.ErrorIs(t, inner.Unlock(), stage6.ErrLost)
		require.True(t, r.Exists(key), "the outer one may still work")
		waiting := startLock(r.Mutex(), t.Context())
		require.ErrorIs(t, outer.Unlock(), stage6.ErrLost)
		requireHeld(t, waiting)
	})
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service(stage6.WithMaxHold(time.Second))
		hold := lock(t, mutexOf(t, svc, lockName), t.Context())
		waitForEnd(t, hold)
		require.NoError(t, svc.Close())
		r.Forget()
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
		require.Empty(t, r.Sent(), "the client may be closed by now")
	})
}

// Each way to lose a hold has a different cause.
func TestLossSaysWhy(t *testing.T) {
	for want, lose := range map[string]func(r *redisNode){
		"its key is gone, or somebody else's": func(r *redisNode) { r.Del(key) },
		"no renewal got through for its lease of 30s: LOADING": func(r *redisNode) {
			r.Refuse("renew", slices.Repeat([]string{loading}, 99)...)
		},
		"it lasted longer than WithMaxHold allows, 2m0s": func(*redisNode) {},
		"its lease of 50s was fixed, and is over":        nil,
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			lost := make(chan stage6.Loss, 1)
			m := r.Mutex(stage6.WithMaxHold(2*time.Minute), stage6.WithOnLost(func(l stage6.Loss) { lost <- l }))
			var opts []stage6.LockOption
			if lose == nil {
				opts = append(opts, stage6.Lease(50*time.Second))
			}
			hold := lock(t, m, t.Context(), opts...)
			if lose != nil {
				lose(r)
			}
			loss := <-lost
			require.ErrorContains(t, loss.Cause, want)
			require.Equal(t, lockName, loss.Name)
			require.Equal(t, hold.Token(), loss.Token)
			require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
		})
	}
}

// A reply that takes longer than a renewal may take is logged before it can cost the hold.
func TestLeaseThatIsShortForTheWayToRedisIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log strings.Builder
		m := r.Mutex(stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), stage6.WithWatchdogTimeout(300*time.Millisecond))
		lock(t, m, t.Context())
		require.Empty(t, log.String())
		r.Delay("acquire", 60*time.Millisecond)
		lock(t, mutexOf(t, r.ServiceOn(r.Client(), stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			stage6.WithWatchdogTimeout(300*time.Millisecond)), "order:2"), t.Context())
		settle()
		require.Contains(t, log.String(), "lease is short for the way to Redis")
	})
}

func TestObserverIsToldWhatHappens(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var mu sync.Mutex
		var told []string
		tell := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf(format, args...))
		}
		m := r.Mutex(stage6.WithObserver(stage6.Observer{
			Acquired: func(name string, waited time.Duration) { tell("acquired %s after %v", name, waited) },
			Released: func(name string, held time.Duration) { tell("released %s after %v", name, held) },
			Renewed:  func(locks int, err error) { tell("renewed %d: %v", locks, err) },
			Lost:     func(name string) { tell("lost %s", name) },
		}))
		blocker := lock(t, r.Mutex(), t.Context())
		waiting := startLock(m, t.Context())
		time.Sleep(3 * time.Second)
		require.NoError(t, blocker.Unlock())
		hold := requireHeld(t, waiting)
		time.Sleep(11 * time.Second)
		require.NoError(t, hold.Unlock())
		lock(t, m, t.Context())
		r.Del(key)
		time.Sleep(11 * time.Second)
		settle()
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []string{
			"acquired order:1001 after 3s", "renewed 1: <nil>", "released order:1001 after 11s",
			"acquired order:1001 after 0s", "renewed 1: <nil>", "lost order:1001",
		}, told)
	})
}

package stage6_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestWatchdogTimeoutIsTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
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
		inBubble(t, func(t *testing.T, r *fakeRedis) {
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

func TestMaxHoldEndsNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		fixed := lock(t, r.Mutex(stage6.WithMaxHold(10*time.Second)), t.Context(), stage6.Lease(time.Minute))
		time.Sleep(59 * time.Second)
		require.NoError(t, fixed.Context().Err())
		require.NoError(t, fixed.Unlock())
		unlimited := lock(t, r.Mutex(stage6.WithMaxHold(math.MaxInt64)), t.Context())
		time.Sleep(time.Hour)
		require.NoError(t, unlimited.Context().Err())
	})
}

// The goroutine outlives the last hold, so that it need not be started for each Lock,
// but by no more than a third of a lease. Convicts one that is started or woken for
// each hold, and one that stays.
func TestWatchdogsGoroutineEndsWithTheLastHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		for range 3 {
			first := lock(t, mutexOf(t, svc, "order:1"), t.Context())
			second := lock(t, mutexOf(t, svc, "order:2"), t.Context(), stage6.Lease(time.Hour))
			require.True(t, watchdogRuns())
			time.Sleep(lease / 2)
			require.NoError(t, first.Unlock())
			require.NoError(t, second.Unlock())
			require.True(t, watchdogRuns())
			time.Sleep(lease / 4)
			again := lock(t, mutexOf(t, svc, "order:1"), t.Context())
			require.True(t, watchdogRuns())
			require.NoError(t, again.Unlock())
			time.Sleep(lease / 3)
			require.False(t, watchdogRuns())
		}
	})
}

// However long the lease was for which the goroutine lay down.
func TestWatchdogsGoroutineEndsAfterALongFixedLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context(), stage6.Lease(time.Hour))
		time.Sleep(lease)
		require.True(t, watchdogRuns())
		require.NoError(t, hold.Unlock())
		time.Sleep(lease / 3)
		require.False(t, watchdogRuns())
	})
}

func watchdogRuns() bool {
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*watchdog).run(")
}

func TestObserverIsToldWhatHappens(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var told []string
		tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
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
		synctest.Wait()
		require.Equal(t, []string{
			"acquired order:1001 after 3s", "renewed 1: <nil>", "released order:1001 after 11s",
			"acquired order:1001 after 0s", "renewed 1: <nil>", "lost order:1001",
		}, told)
	})
}

func TestShortestWatchdogTimeoutKeepsTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(stage6.WithWatchdogTimeout(30*time.Millisecond)), t.Context())
		time.Sleep(10 * time.Second)
		require.NoError(t, hold.Context().Err())
		require.NoError(t, hold.Unlock())
	})
}

// With the longest watchdog timeout nothing is ever due, and everything works.
func TestLongestWatchdogTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service(stage6.WithWatchdogTimeout(math.MaxInt64))
		m := mutexOf(t, svc, lockName)
		outer := lock(t, m, t.Context())
		time.Sleep(365 * 24 * time.Hour)
		inner := lock(t, m, outer.Context())
		waiting := startLock(r.Mutex(), t.Context())
		require.Zero(t, r.Count("renew"))
		require.NoError(t, outer.Unlock())
		require.NoError(t, inner.Unlock())
		require.NoError(t, requireHeld(t, waiting).Unlock())
		lock(t, m, t.Context())
		require.NoError(t, svc.Close())
		require.False(t, r.Exists(key))
	})
}

package stage6_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestRenewalComesEveryThirdOfTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		time.Sleep(30 * time.Second)
		require.Equal(t, []sent{
			{0, "acquire"}, {10 * time.Second, "renew"}, {20 * time.Second, "renew"}, {30 * time.Second, "renew"},
		}, r.Sent())
		require.Equal(t, lease, r.TTL(key))
	})
}

func TestWatchdogTimeoutIsTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(stage6.WithWatchdogTimeout(6*time.Second)), t.Context())
		require.Equal(t, 6*time.Second, r.TTL(key))
		time.Sleep(2 * time.Second)
		require.Equal(t, []sent{{0, "acquire"}, {2 * time.Second, "renew"}}, r.Sent())
		require.Equal(t, 6*time.Second, r.TTL(key))
	})
}

func TestReentriesHaveOneWatchdog(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		lock(t, m, outer.Context())
		lock(t, m, outer.Context())
		time.Sleep(time.Minute)
		require.Equal(t, 6, r.Count("renew"))
	})
}

// 250 locks that were taken at one moment are renewed by three commands.
func TestRenewalsOfManyLocksShareCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var batches []int
		var mu sync.Mutex
		svc := r.Service(stage6.WithObserver(stage6.Observer{Renewed: func(locks int, err error) {
			mu.Lock()
			defer mu.Unlock()
			require.NoError(t, err)
			batches = append(batches, locks)
		}}))
		for i := range 250 {
			lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context())
		}
		time.Sleep(lease / 3)
		synctest.Wait()
		require.ElementsMatch(t, []int{100, 100, 50}, batches)
		require.Equal(t, 3, r.Count("renew"))
		for i := range 250 {
			require.Equal(t, lease, r.TTL(fmt.Sprintf("lock:{order:%d}", i)))
		}
	})
}

// Locks that were taken within a sixtieth of the lease are renewed together.
func TestRenewalsThatAreDueSoonShareACommand(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, "order:1"), t.Context())
		time.Sleep(500 * time.Millisecond)
		lock(t, mutexOf(t, svc, "order:2"), t.Context())
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, r.Count("renew"))
	})
}

func TestOneBadKeyDoesNotFailTheOthersOfItsBatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		good := lock(t, mutexOf(t, svc, "good"), t.Context())
		gone := lock(t, mutexOf(t, svc, "gone"), t.Context())
		wrong := lock(t, mutexOf(t, svc, "wrong"), t.Context())
		r.Del("lock:{gone}")
		r.Del("lock:{wrong}")
		require.NoError(t, r.Set("lock:{wrong}", "a lock of stage 5"))
		time.Sleep(lease / 3)
		synctest.Wait()
		require.Equal(t, 1, r.Count("renew"))
		require.NoError(t, good.Context().Err())
		require.Equal(t, lease, r.TTL("lock:{good}"))
		require.Equal(t, stage6.ErrLost, context.Cause(gone.Context()))
		require.Equal(t, stage6.ErrLost, context.Cause(wrong.Context()))
		require.False(t, r.Exists("lock:{gone}"))
	})
}

func TestFailedRenewalIsRepeatedAndTheHoldGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		const loading = "LOADING Redis is loading the dataset in memory"
		r.Refuse("renew", loading, loading, loading)
		time.Sleep(time.Minute)
		require.NoError(t, hold.Context().Err())
		require.Equal(t, []sent{
			{0, "acquire"}, {10 * time.Second, "renew"}, {12500 * time.Millisecond, "renew"}, {15 * time.Second, "renew"},
			{17500 * time.Millisecond, "renew"}, {27500 * time.Millisecond, "renew"}, // this one and the last but one got through
			{37500 * time.Millisecond, "renew"}, {47500 * time.Millisecond, "renew"}, {57500 * time.Millisecond, "renew"},
		}, r.Sent())
	})
}

// A renewal that hangs is given up after a sixth of the lease, and sent again.
func TestRenewalThatHangsIsRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context())
		time.Sleep(9 * time.Second)
		r.Delay("renew", time.Hour)
		time.Sleep(2 * time.Second)
		r.Delay("renew", 0)
		time.Sleep(30 * time.Second)
		require.NoError(t, hold.Context().Err())
		time.Sleep(2 * time.Hour)
	})
}

// Renewals that are due at different times go out by themselves: one that hangs
// delays no other.
func TestRenewalThatHangsDelaysNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, "first"), t.Context())
		time.Sleep(2 * time.Second)
		second := lock(t, mutexOf(t, svc, "second"), t.Context())
		time.Sleep(7 * time.Second)
		r.Delay("renew", time.Hour)
		time.Sleep(2 * time.Second) // the renewal of the first hangs
		r.Delay("renew", 0)
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, r.Count("renew"), "that of the second has gone out")
		time.Sleep(lease)
		require.NoError(t, second.Context().Err())
		time.Sleep(2 * time.Hour)
	})
}

func TestFailedRenewalsEndTheHoldWithItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var log strings.Builder
		m := r.Mutex(stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		began := time.Now()
		hold := lock(t, m, t.Context())
		time.Sleep(15 * time.Second) // one renewal gets through
		r.Refuse("renew", slices.Repeat([]string{"LOADING Redis is loading the dataset in memory"}, 99)...)
		waitForEnd(t, hold)
		require.Equal(t, 10*time.Second+lease, time.Since(began), "a lease after the last renewal")
		synctest.Wait() // the log is written after the context has ended
		require.Contains(t, log.String(), "renewal failed")
		require.Contains(t, log.String(), "lock lost")
	})
}

func TestMaxHoldEndsAHoldThatIsRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		began := time.Now()
		hold := lock(t, r.Mutex(stage6.WithMaxHold(45*time.Second)), t.Context())
		waitForEnd(t, hold)
		require.Equal(t, 45*time.Second, time.Since(began))
		require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
		r.Forget()
		time.Sleep(lease)
		require.False(t, r.Exists(key))
		require.Empty(t, r.Sent())
	})
}

func TestMaxHoldLeavesAFixedLeaseAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(stage6.WithMaxHold(10*time.Second)), t.Context(), stage6.Lease(time.Minute))
		time.Sleep(59 * time.Second)
		require.NoError(t, hold.Context().Err())
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

func TestWatchdogsGoroutineEndsWhenTheServiceCloses(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		require.NoError(t, lock(t, mutexOf(t, svc, "order:1"), t.Context()).Unlock())
		require.True(t, watchdogRuns())
		began := time.Now()
		require.NoError(t, svc.Close())
		require.False(t, watchdogRuns())
		require.Zero(t, time.Since(began))
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

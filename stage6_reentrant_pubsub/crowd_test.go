package stage6_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// crowd is the number of goroutines that want one lock.
const crowd = 900

// Each goroutine gets the lock once, one at a time. The number of commands grows
// with the hand-overs and not with the waiters. Finds waiters that all try when one
// is woken, and queues that lose a waiter.
func TestCrowdIsServedOneByOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		before := runtime.NumGoroutine()
		var working sync.WaitGroup
		inside, served := 0, 0 // guarded by the lock, which the race detector checks
		for range crowd {
			working.Go(func() {
				err := m.Do(t.Context(), func(context.Context) error {
					inside++
					require.Equal(t, 1, inside)
					served++
					inside--
					return nil
				})
				require.NoError(t, err)
			})
		}
		settle()
		require.Less(t, runtime.NumGoroutine(), before+crowd+20, "waiting costs no goroutine but the caller's")
		require.LessOrEqual(t, len(r.Sent()), 10, "one of them talks to Redis")
		require.NoError(t, hold.Unlock())
		working.Wait()
		require.Equal(t, crowd, served)
		require.LessOrEqual(t, len(r.Sent()), 2*crowd+20, "two commands for each")
		require.False(t, r.Exists(key))
	})
}

// All goroutines give up at the same time, and nothing is left of them.
func TestCrowdThatGivesUpLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		m := r.Mutex()
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for range crowd {
			waiting.Go(func() {
				_, err := m.Lock(ctx)
				require.ErrorIs(t, err, context.Canceled)
			})
		}
		r.Forget()
		cancel()
		waiting.Wait()
		require.LessOrEqual(t, len(r.Sent()), 10, "the waiters only passed their places on")
		require.NoError(t, hold.Unlock())
		requireNothingLeft(t, r)
	})
}

// The goroutines share one hold: concurrent re-entries and partial unlocks end in
// the right count.
func TestCrowdThatReentersOneHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		var working sync.WaitGroup
		for range crowd / 10 {
			working.Go(func() {
				require.NoError(t, m.Do(outer.Context(), func(context.Context) error { return nil }))
			})
		}
		working.Wait()
		require.Equal(t, []string{"1"}, r.HoldCounts())
		require.NoError(t, outer.Unlock())
		require.False(t, r.Exists(key))
	})
}

package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// way is one way to take a lock. It returns the hold, or nil for Do, which has
// released it.
type way func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error)

var ways = map[string]way{
	"Lock":       func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) { return m.Lock(ctx) },
	"TryLock":    func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) { return m.TryLock(ctx) },
	"TryLockFor": func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) { return m.TryLockFor(ctx, time.Hour) },
	"Do": func(m *stage6.Mutex, ctx context.Context) (*stage6.Hold, error) {
		return nil, m.Do(ctx, func(ctx context.Context) error { return ctx.Err() })
	},
}

// end makes a context that ends after a second.
type end func(parent context.Context) (context.Context, context.CancelFunc)

var ends = map[string]end{
	"cancelled": func(parent context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(parent)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	},
	"deadline": func(parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(parent, time.Second)
	},
}

// eachEnd runs a test for every way to take a lock and every way in which a
// context ends.
func eachEnd(t *testing.T, test func(t *testing.T, r *redisNode, take way, begin end)) {
	for wayName, take := range ways {
		for endName, begin := range ends {
			t.Run(wayName+" "+endName, func(t *testing.T) {
				inBubble(t, func(t *testing.T, r *redisNode) { test(t, r, take, begin) })
			})
		}
	}
}

// soon is much shorter than a lease: a key that is gone by then was freed.
const soon = lease / 3

// requireNothingLeft asserts that no lock is left soon, and no subscription after a
// lease, without any other call.
func requireNothingLeft(t *testing.T, r *redisNode) {
	t.Helper()
	time.Sleep(soon)
	settle()
	require.False(t, r.Exists(key), "left for %v", r.TTL(key))
	time.Sleep(lease)
	settle()
	require.Empty(t, r.PubSubChannels("*"), "a subscription is kept for a while")
	r.Forget()
	time.Sleep(time.Hour)
	require.Empty(t, r.Sent(), "nothing is renewed, nothing is looked at")
}

// requireEndOf asserts that err wraps the error of a context that ends now.
func requireEndOf(t *testing.T, ctx context.Context, err error) {
	t.Helper()
	<-ctx.Done()
	require.ErrorIs(t, err, ctx.Err())
}

func TestEndedContextTakesNothing(t *testing.T) {
	eachEnd(t, func(t *testing.T, r *redisNode, take way, begin end) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		for _, parent := range []context.Context{t.Context(), outer.Context()} { // an acquire, a re-entry
			ctx, cancel := begin(parent)
			defer cancel()
			time.Sleep(2 * time.Second)
			r.Forget()
			hold, err := take(m, ctx)
			requireEndOf(t, ctx, err)
			require.Nil(t, hold)
			require.Empty(t, r.Sent())
		}
	})
}

// The acquire is under way when its context ends. Either the caller holds the
// lock, and can release it, or the lock is free.
func TestContextThatEndsDuringTheAcquireLeavesNothing(t *testing.T) {
	eachEnd(t, func(t *testing.T, r *redisNode, take way, begin end) {
		r.Delay("acquire", 2*time.Second)
		ctx, cancel := begin(t.Context())
		defer cancel()
		hold, err := take(r.Mutex(), ctx)
		if hold != nil {
			require.NoError(t, err)
			requireEndOf(t, ctx, hold.Context().Err())
			require.NoError(t, hold.Unlock())
		} else {
			requireEndOf(t, ctx, err)
		}
		requireNothingLeft(t, r)
	})
}

// The context ends in each phase of a wait: before the subscription is
// acknowledged, asleep, and during the attempt after the wake-up.
func TestContextThatEndsDuringAWaitLeavesNothing(t *testing.T) {
	phases := map[string]func(r *redisNode, hold *stage6.Hold){
		"subscribing": func(r *redisNode, _ *stage6.Hold) { r.Delay("SUBSCRIBE", 2*time.Second) },
		"asleep":      func(*redisNode, *stage6.Hold) {},
		"woken": func(r *redisNode, hold *stage6.Hold) {
			time.AfterFunc(500*time.Millisecond, func() {
				r.Delay("acquire", 2*time.Second)
				_ = hold.Unlock() // the keys in Redis show whether it worked
			})
		},
	}
	for phase, arrange := range phases {
		t.Run(phase, func(t *testing.T) {
			eachEnd(t, func(t *testing.T, r *redisNode, take way, begin end) {
				blocker := lock(t, r.Mutex(), t.Context())
				arrange(r, blocker)
				ctx, cancel := begin(t.Context())
				defer cancel()
				hold, err := take(r.Mutex(), ctx)
				if hold != nil {
					require.NoError(t, hold.Unlock())
				} else {
					require.Error(t, err)
				}
				time.Sleep(2 * time.Second)
				_ = blocker.Unlock() // it may be released already
				requireNothingLeft(t, r)
			})
		})
	}
}

// The first waiter is woken, and its context ends during its attempt. If the
// attempt took the lock it is freed, and the next waiter gets it long before the
// lease ends.
func TestWaiterWhoseContextEndsDuringItsAttemptLeavesTheLockFree(t *testing.T) {
	for endName, begin := range ends {
		t.Run(endName, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				blocker := lock(t, r.Mutex(), t.Context())
				m := r.Mutex()
				ctx, cancel := begin(t.Context())
				defer cancel()
				first, second := startLock(m, ctx), startLock(m, t.Context())
				r.Delay("acquire", 2*time.Second)
				began := time.Now()
				require.NoError(t, blocker.Unlock())
				if o := <-first; o.err == nil {
					require.NoError(t, o.hold.Unlock())
				}
				r.Delay("acquire", 0)
				o := <-second
				require.NoError(t, o.err)
				require.Less(t, o.at.Sub(began), soon)
				require.NoError(t, o.hold.Unlock())
				requireNothingLeft(t, r)
			})
		})
	}
}

// A re-entry whose context ends before, during or after its command does not
// change the outer hold.
func TestContextThatEndsAroundAReentryLeavesTheOuterHold(t *testing.T) {
	for when, delay := range map[string]time.Duration{"before": -2 * time.Second, "during": 2 * time.Second, "after": 0} {
		t.Run(when, func(t *testing.T) {
			eachEnd(t, func(t *testing.T, r *redisNode, take way, begin end) {
				m := r.Mutex()
				outer := lock(t, m, t.Context())
				ctx, cancel := begin(outer.Context())
				defer cancel()
				r.Delay("count", max(delay, 0))
				time.Sleep(max(-delay, 0))
				inner, err := take(m, ctx)
				time.Sleep(2 * time.Second)
				if inner != nil {
					require.NoError(t, inner.Unlock())
				} else if err != nil {
					requireEndOf(t, ctx, err)
				}
				time.Sleep(soon)
				require.Equal(t, []string{"1"}, r.HoldCounts())
				require.NoError(t, outer.Context().Err())
				require.NoError(t, outer.Unlock())
				requireNothingLeft(t, r)
			})
		})
	}
}

func TestQuestionEndsWithTheErrorOfItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		ctx, cancel := context.WithCancel(hold.Context())
		cancel()
		_, err := m.IsLocked(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = m.HoldCount(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = m.RemainingTTL(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = m.ForceUnlock(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, m.IsHeld(ctx), "it sends nothing")
		require.Equal(t, []string{"1"}, r.HoldCounts())

		r.Delay("force", 2*time.Second)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = m.ForceUnlock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "on its way")
		time.Sleep(time.Minute)

		r.Delay("force", time.Minute) // the client's own timeout ends the command
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = m.ForceUnlock(ctx)
		require.ErrorIs(t, err, context.Canceled, "on its way")
	})
}

// A nil context is a mistake in the program, and panics as everywhere in Go. It
// takes no lock and blocks no other caller.
func TestMissingContextPanicsAndTakesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		var missing context.Context
		for name, take := range ways {
			require.Panics(t, func() { _, _ = take(m, missing) }, name)
		}
		require.Empty(t, r.Sent())
		_, err := m.Lock(t.Context())
		require.NoError(t, err)
	})
}

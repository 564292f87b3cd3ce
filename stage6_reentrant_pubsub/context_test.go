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

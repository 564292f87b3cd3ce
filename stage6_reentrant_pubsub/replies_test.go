package stage6_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func (r *fakeRedis) answer(script, raw string, enough func()) *atomic.Int64 {
	var times atomic.Int64
	r.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		if command != "EVALSHA" || r.names[args[0]] != script {
			return r.hook(c, command, args...)
		}
		if times.Add(1) == 1000 {
			enough()
		}
		c.WriteRaw(raw)
		return true
	})
	return &times
}

func TestWaiterDoesNotPollBehindAnEndlessLease(t *testing.T) {
	for _, raw := range []string{":-9223372036854775808\r\n", ":-9000000000000000002\r\n", ":-9223372036854775807\r\n"} {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			times := r.answer("acquire", raw, cancel)
			_, err := r.Mutex().Lock(ctx)
			require.Error(t, err)
			require.Less(t, times.Load(), int64(10))
		})
	}
}

func TestWaiterDoesNotPollWithTheLongestWatchdogTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		r.HSet(key, "careless:1", "1")
		m := r.Mutex(stage6.WithWatchdogTimeout(math.MaxInt64))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		times := r.answer("acquire", ":-1\r\n", cancel) // it has no lease
		_, err := m.Lock(ctx)
		require.Error(t, err)
		require.Less(t, times.Load(), int64(10))
	})
}

func TestAnswerThatIsNoTokenIsNoHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		r.answer("acquire", ":0\r\n", nil)
		hold, err := m.TryLock(t.Context())
		require.EqualError(t, err, "stage6: lock lock:{order:1001}: Redis answered 0, which is neither a token nor a refusal")
		require.Nil(t, hold)
	})
}

func TestRenewalAnsweredForTooFewLocksIsAnError(t *testing.T) {
	for _, raw := range []string{"*0\r\n", "*1\r\n:1\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n"} {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			var failed atomic.Bool
			svc := r.Service(stage6.WithObserver(stage6.Observer{Renewed: func(_ int, err error) { failed.Store(err != nil) }}))
			hold := lock(t, mutexOf(t, svc, "order:1"), t.Context())
			lock(t, mutexOf(t, svc, "order:2"), t.Context())
			r.answer("renew", raw, nil)
			time.Sleep(lease / 3)
			synctest.Wait()
			require.True(t, failed.Load())
			require.NoError(t, hold.Context().Err(), "there is time for another try")
		})
	}
}

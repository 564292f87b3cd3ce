package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The pool has one connection, and another command uses it. An attempt whose context ends before
// it gets a connection has sent nothing.
func TestAttemptThatWasNeverSentIsNotCleanedUp(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client(func(o *redis.Options) { o.PoolSize, o.ReadTimeout = 1, time.Hour })
		m := mutexOf(t, r.ServiceOn(rdb), lockName)
		r.Delay("PING", 10*time.Second)
		ping := make(chan error, 1)
		go func() { ping <- rdb.Ping(t.Context()).Err() }()
		settle()
		for name, take := range ways {
			for endName, begin := range ends {
				ctx, cancel := begin(t.Context())
				_, err := take(m, ctx)
				requireEndOf(t, ctx, err)
				require.NotErrorIs(t, err, stage6.ErrLocked, name+endName)
				cancel()
			}
		}
		require.NoError(t, <-ping)
		time.Sleep(2 * lease)
		require.Zero(t, r.Count("acquire")+r.Count("release"))
	})
}

// Redis is so slow that nearly all callers give up. Their clean-ups must not make it slower still.
func TestOverloadSendsTwoCommandsForAnAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		held := lock(t, r.Mutex(), t.Context())
		m := r.Mutex()
		r.Forget()
		r.Delay("acquire", 100*time.Millisecond)
		const attempts = 400
		for range attempts {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := m.TryLock(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		time.Sleep(2 * lease)
		require.LessOrEqual(t, r.Count("acquire")+r.Count("release"), 2*attempts)
		require.NoError(t, held.Unlock())
	})
}

package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// refusals are errors with which Redis refuses a command.
var refusals = []string{
	"OOM command not allowed when used memory > 'maxmemory'.", "READONLY You can't write against a read only replica.",
	"NOPERM this user has no permissions to run the 'evalsha' command", "NOAUTH Authentication required.",
	"WRONGPASS invalid username-password pair or user is disabled.", "WRONGTYPE Operation against a key holding the wrong kind of value",
	"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.", "MASTERDOWN Link with MASTER is down",
	"MISCONF Redis is configured to save RDB snapshots", "NOREPLICAS Not enough good replicas to write.", "CLUSTERDOWN The cluster is down",
	"CROSSSLOT Keys in request don't hash to the same slot", "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381",
	"EXECABORT Transaction discarded because of previous errors.", "ERR max number of clients reached",
	"ERR unknown command 'EVALSHA'", "ERR wrong number of arguments for 'evalsha' command", "ERR invalid expire time in 'pexpire' command",
	"ERR Error running script (call to f_1): @user_script:28: The user executing the script can't run this command",
}

// proxies are errors of proxies that have lost Redis, or have stopped waiting for it.
var proxies = []string{
	"ERR server connection close", "ERR no server connection avaliable", "ERR handle response, backend conn reset", "ERR Connection timed out",
	"ERR", "upstream failure", "no upstream host", "MOVEDON elsewhere",
}

// Redis executes the acquire, or has refused it. A lock that may have been granted is freed at
// once; after a refusal there is nothing to free.
func TestFailedAcquireIsFreedUnlessRedisRefusedIt(t *testing.T) {
	eachAnswer(t, func(t *testing.T, r *redisNode, text string, refused bool) {
		r.Refuse("acquire", text)
		_, err := r.Mutex().TryLock(t.Context())
		require.ErrorContains(t, err, text)
		require.NotErrorIs(t, err, stage6.ErrLocked)
		require.Equal(t, refused, r.Count("release") == 0)
	})
}

func TestUnlockIsRepeatedUnlessRedisRefusedItForGood(t *testing.T) {
	eachAnswer(t, func(t *testing.T, r *redisNode, text string, refused bool) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Refuse("release", text)
		began, err := time.Now(), hold.Unlock()
		require.Equal(t, err == nil, !r.Exists(key))
		if !refused {
			require.NoError(t, err)
		}
		require.Less(t, time.Since(began), time.Second)
	})
}

func eachAnswer(t *testing.T, test func(t *testing.T, r *redisNode, text string, refused bool)) {
	for i, text := range append(proxies, refusals...) {
		t.Run(text, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) { test(t, r, text, i >= len(proxies)) })
		})
	}
}

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

// The reply to an acquire is lost, and Redis is slow. The caller does not wait for the clean-up;
// Close does.
func TestCleanUpNeverRunsInTheCallersTime(t *testing.T) {
	for name, take := range ways {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				svc := r.Service()
				m := mutexOf(t, svc, lockName)
				r.Refuse("acquire", "ERR upstream failure")
				r.Delay("release", time.Second)
				began := time.Now()
				_, err := take(m, t.Context())
				require.Error(t, err)
				require.Zero(t, time.Since(began))
				require.NoError(t, svc.Close())
				require.LessOrEqual(t, time.Since(began), 2*time.Second)
			})
		})
	}
}

// Redis is far away, and the grants come too late.
func TestGrantThatComesTooLateIsFreedInTheBackground(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Delay("acquire", 50*time.Millisecond)
		r.Delay("release", time.Hour)
		began := time.Now()
		_, err := r.Mutex().TryLock(t.Context(), stage6.Lease(40*time.Millisecond))
		require.ErrorContains(t, err, "too short for the way to Redis")
		require.Less(t, time.Since(began), 3*(50+40)*time.Millisecond)
		r.Delay("release", 0)
	})
}

package stage6_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// Many goroutines release a hold at the same time, and one succeeds. Finds a
// check of "released" that is not one step with setting it.
func TestConcurrentUnlocksReleaseAHoldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		for _, hold := range []*stage6.Hold{inner, outer} {
			results := make(chan error, 50)
			for range cap(results) {
				go func() { results <- hold.Unlock() }()
			}
			released := 0
			for range cap(results) {
				if err := <-results; err == nil {
					released++
				} else {
					require.ErrorIs(t, err, stage6.ErrNotHeld)
				}
			}
			require.Equal(t, 1, released)
			require.Equal(t, hold == inner, r.Exists(key))
		}
		require.Equal(t, 1, r.Count("release"))
	})
}

func TestHoldsReleasedAtOneMomentAreEachReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		holds := []*stage6.Hold{lock(t, m, outer.Context()), lock(t, m, outer.Context()), outer}
		r.Delay("count", time.Second)
		results := make(chan error, len(holds))
		for _, hold := range holds {
			go func() { results <- hold.Unlock() }()
		}
		for range holds {
			require.NoError(t, <-results)
		}
		require.False(t, r.Exists(key))
	})
}

// The last Unlock has removed its hold, but has not yet freed the lock, when a partial one gets its turn.
func TestPartialUnlockAfterTheLastUnlockLeavesTheLockToIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		outer := lock(t, m, slowValues{t.Context()}) // its end takes a moment
		inner := []*stage6.Hold{lock(t, m, outer.Context()), lock(t, m, outer.Context())}
		r.Delay("count", time.Second)
		results := make(chan error, len(inner))
		for _, hold := range inner {
			go func() { results <- hold.Unlock() }()
		}
		time.Sleep(time.Second - slowValue/2)
		require.NoError(t, outer.Unlock())
		for range inner {
			require.NoError(t, <-results)
		}
		require.False(t, r.Exists(key))
	})
}

func TestUnlockIsRepeatedAfterAPoolTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client(func(o *redis.Options) { o.PoolSize = 1; o.ReadTimeout = time.Hour; o.PoolTimeout = time.Second })
		h := lock(t, mutexOf(t, r.ServiceOn(rdb), lockName), t.Context())
		r.Delay("PING", 2*time.Second)
		go rdb.Ping(t.Context())
		settle()
		_ = h.Unlock()
		time.Sleep(10 * time.Second)
		require.False(t, r.Exists(key), "stays for %v", r.TTL(key))

		h = lock(t, mutexOf(t, r.ServiceOn(rdb), lockName), t.Context())
		r.Del(key)
		go rdb.Ping(t.Context())
		settle()
		require.ErrorIs(t, h.Unlock(), stage6.ErrLost, "the attempt that got no connection has freed nothing")
	})
}

// busy are temporary errors, which do not mean that the lock cannot be freed.
var busy = []string{
	"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", loading,
	"READONLY You can't write against a read only replica.", "NOREPLICAS Not enough good replicas to write.",
	"CLUSTERDOWN The cluster is down", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	"ERR max number of clients reached",
	// Redis 6 uses these words when a command of a script is refused.
	"ERR Error running script (call to f_45e87c07f6aff394093b73766a458691d0460655): @user_script:8: @user_script: 8: " +
		"-READONLY You can't write against a read only replica.",
}

func TestTemporaryErrorEndsNeitherAnUnlockNorAWait(t *testing.T) {
	for _, answer := range busy {
		inBubble(t, func(t *testing.T, r *redisNode) {
			m := r.Mutex()
			outer := lock(t, m, t.Context())
			inner := lock(t, m, outer.Context())
			waiting := startLock(r.Mutex(), t.Context())
			r.Refuse("count", answer, answer)
			require.NoError(t, inner.Unlock())
			r.Refuse("release", slices.Repeat([]string{answer}, 7)...)
			r.Refuse("acquire", answer, answer)
			began := time.Now()
			require.NoError(t, outer.Unlock())
			require.Less(t, time.Since(began), time.Second)
			o := <-waiting
			require.NoError(t, o.err)
			require.Less(t, o.at.Sub(began), 2*time.Second)
			require.NoError(t, o.hold.Unlock())
		})
	}
}

// A lease may be a day long. An unanswered command is repeated soon nevertheless.
func TestLongLeaseDelaysNoSecondTry(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		day := stage6.WithWatchdogTimeout(24 * time.Hour)
		began, hold := time.Now(), lock(t, r.Mutex(day), t.Context())
		waiting := startLock(r.Mutex(day), t.Context())
		r.Refuse("acquire", busy[0], busy[0])
		require.NoError(t, hold.Unlock())
		o := <-waiting
		require.NoError(t, o.err)
		require.NoError(t, o.hold.Unlock())
		require.Less(t, time.Since(began), 5*time.Second, "a waiter")

		r.Refuse("SUBSCRIBE", loading)
		began, hold = time.Now(), lock(t, r.Mutex(day), t.Context())
		waiting = startLock(r.Mutex(day), t.Context())
		require.NoError(t, hold.Unlock())
		o = <-waiting
		require.NoError(t, o.err)
		require.NoError(t, o.hold.Unlock())
		require.Less(t, time.Since(began), 15*time.Second, "a waiter without a subscription")

		r.Forget()
		r.Refuse("acquire", "")
		r.Refuse("release", loading)
		_, err := r.Mutex(day).TryLock(t.Context())
		require.Error(t, err)
		time.Sleep(5 * time.Second)
		require.Greater(t, r.Count("release"), 1, "a clean-up")
	})
}

// A proxy breaks each connection at once: a balancer without a master, or a Redis that has too
// many clients.
func TestConnectionThatBreaksAtOnceForAWhileEndsNoUnlock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Refuse("release", slices.Repeat([]string{""}, 20)...)
		began := time.Now()
		require.NoError(t, hold.Unlock())
		require.Less(t, time.Since(began), 2*time.Second)
		require.False(t, r.Exists(key))

		hold = lock(t, r.Mutex(), t.Context())
		r.Refuse("release", slices.Repeat([]string{""}, 10_000)...)
		began = time.Now()
		require.ErrorContains(t, hold.Unlock(), "EOF")
		require.LessOrEqual(t, time.Since(began), lease/2)
	})
}

func TestUnlockOnAClosedClientFailsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client()
		hold := lock(t, mutexOf(t, r.ServiceOn(rdb), lockName), t.Context())
		require.NoError(t, rdb.Close())
		began := time.Now()
		require.ErrorIs(t, hold.Unlock(), redis.ErrClosed)
		require.Zero(t, time.Since(began))
	})
}

// A re-entry is stuck. The Unlock of the last hold frees the lock nevertheless, and the
// command of the re-entry finds nothing.
func TestLastUnlockBehindAReentryThatHangsFreesTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := mutexOf(t, r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = -1 })), lockName)
		outer := lock(t, m, t.Context())
		r.Delay("count", time.Hour)
		reentry := startLock(m, context.WithoutCancel(outer.Context()))
		require.NoError(t, outer.Unlock())
		require.False(t, r.Exists(key), "left for %v", r.TTL(key))
		require.Error(t, (<-reentry).err)
	})
}

package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestCloseReleasesWhatTheServiceHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		first := lock(t, mutexOf(t, svc, lockName), t.Context())
		inner := lock(t, mutexOf(t, svc, lockName), first.Context())
		second := lock(t, mutexOf(t, svc, "order:1002"), t.Context())
		require.NoError(t, svc.Close())
		for _, hold := range []*stage6.Hold{first, inner, second} {
			require.Equal(t, stage6.ErrClosed, context.Cause(hold.Context()))
			require.ErrorIs(t, hold.Unlock(), stage6.ErrClosed)
			require.ErrorIs(t, hold.Unlock(), stage6.ErrNotHeld)
		}
		require.Equal(t, []string{"lock:{order:1001}:token", "lock:{order:1002}:token"}, r.Keys())
	})
}

// While Redis does not answer, each release takes half a lease, and Close sends 64 at a time.
func TestCloseEndsTheContextsOfAllHoldsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		var holds []*stage6.Hold
		for i := range 200 {
			holds = append(holds, lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context()))
		}
		r.Delay("release", lease)
		closed := make(chan error, 1)
		go func() { closed <- svc.Close() }()
		settle()
		for i, hold := range holds {
			require.Equal(t, stage6.ErrClosed, context.Cause(hold.Context()), i)
		}
		require.Error(t, <-closed)
	})
}

func TestCloseLetsTheNextProcessIn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, lockName), t.Context())
		waiting := startLock(r.Mutex(), t.Context())
		require.NoError(t, svc.Close())
		requireHeld(t, waiting)
	})
}

func TestCloseByManyAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", time.Second)
		var closing sync.WaitGroup
		for range 10 {
			closing.Go(func() {
				require.NoError(t, svc.Close(), "closing twice is no error")
				require.False(t, r.Exists(key), "each waits for the first")
			})
		}
		closing.Wait()
		require.Equal(t, 1, r.Count("release"))
	})
}

func TestCloseEndsWaiters(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		lock(t, r.Mutex(), t.Context())
		svc := r.Service()
		m := mutexOf(t, svc, lockName)
		var waiting []chan outcome
		for range 10 {
			waiting = append(waiting, startLock(m, t.Context()))
		}
		require.NoError(t, svc.Close())
		settle()
		for _, done := range waiting {
			require.Len(t, done, 1, "at once")
			require.ErrorIs(t, (<-done).err, stage6.ErrClosed)
		}
		require.Equal(t, map[string]int{channel: 0}, r.PubSubNumSub(channel))
	})
}

func TestClosedServiceLocksNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		m := mutexOf(t, svc, lockName)
		hold := lock(t, m, t.Context())
		require.NoError(t, svc.Close())
		r.Forget()
		for _, ctx := range []context.Context{t.Context(), context.WithoutCancel(hold.Context())} {
			for name, take := range ways {
				_, err := take(m, ctx)
				require.ErrorIs(t, err, stage6.ErrClosed, name)
			}
		}
		require.Empty(t, r.Sent())
	})
}

// Lock, TryLockFor, re-entry and Unlock run in many goroutines while the service closes. Each call returns one of the
// errors that it may return, and no lock is left behind.
func TestCloseDuringLocksAndUnlocks(t *testing.T) {
	for closesAt := range 4 {
		inBubble(t, func(t *testing.T, r *redisNode) {
			for _, name := range scripts {
				r.Delay(name, 3*time.Millisecond) // so that Close runs during each of them
			}
			r.Delay("release", 7*time.Millisecond)
			svc := r.Service()
			var working sync.WaitGroup
			for i := range 30 {
				m := mutexOf(t, svc, fmt.Sprint("order:", i%3))
				working.Go(func() {
					for work(t, m, i%3 != 1) {
					}
				})
			}
			time.Sleep(100*time.Millisecond + time.Duration(3*closesAt)*time.Millisecond)
			require.NoError(t, svc.Close())
			working.Wait()
			time.Sleep(time.Second)
			require.Len(t, r.Keys(), 3, "the tokens")
			settle()
			require.Empty(t, r.PubSubChannels("*"))
		})
	}
}

// work takes the lock, re-enters and releases both, with Lock or with TryLockFor. It
// returns false once the service is closed.
func work(t *testing.T, m *stage6.Mutex, patient bool) bool {
	var hold *stage6.Hold
	var err error
	if patient {
		hold, err = m.Lock(t.Context())
	} else if hold, err = m.TryLockFor(t.Context(), 10*time.Millisecond); errors.Is(err, stage6.ErrLocked) {
		return true
	}
	if errors.Is(err, stage6.ErrClosed) {
		return false
	}
	require.NoError(t, err)
	inner, err := m.TryLock(hold.Context())
	if err == nil {
		err = inner.Unlock()
	}
	for _, err := range []error{err, hold.Unlock()} {
		if err != nil && !errors.Is(err, context.Canceled) { // Close was faster
			require.ErrorIs(t, err, stage6.ErrClosed)
		}
	}
	return true
}

// An Unlock under way when the service closes continues, and frees the lock.
func TestCloseWaitsForAnUnlockUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client()
		svc := r.ServiceOn(rdb)
		hold := lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", time.Second)
		released := make(chan error, 1)
		go func() { released <- hold.Unlock() }()
		settle()
		require.NoError(t, svc.Close())
		require.NoError(t, rdb.Close()) // as a process does when it ends
		require.False(t, r.Exists(key), "left for %v", r.TTL(key))
		require.NoError(t, <-released)
	})
}

// There are more holds than Close releases concurrently. What Unlock or Close has ended is not lost.
func TestUnlockBeforeOrDuringCloseIsNoLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var lost atomic.Int32
		svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.PoolSize = 99 }), stage6.WithOnLost(func(stage6.Loss) { lost.Add(1) }))
		var holds []*stage6.Hold
		for i := range 66 {
			holds = append(holds, lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context()))
		}
		r.Delay("release", time.Second)
		before := make(chan error, 1)
		go func() { before <- holds[0].Unlock() }()
		settle()
		closed := make(chan error, 1)
		go func() { closed <- svc.Close() }()
		settle()
		for _, hold := range holds[1:] {
			require.ErrorIs(t, hold.Unlock(), stage6.ErrClosed)
		}
		require.NoError(t, <-before)
		require.NoError(t, <-closed)
		settle()
		require.Zero(t, lost.Load())
	})
}

// There are more holds than Close releases concurrently. Their owners release some during
// Close, and the process closes its client when Close has returned.
func TestCloseWaitsForAnUnlockThatBeginsMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client(func(o *redis.Options) { o.PoolSize = 200 })
		svc := r.ServiceOn(rdb)
		var holds []*stage6.Hold
		for i := range 150 {
			holds = append(holds, lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context()))
		}
		r.Delay("release", time.Second)
		unlocked := make(chan error, len(holds))
		time.AfterFunc(time.Second/2, func() {
			for _, hold := range holds {
				go func() { unlocked <- hold.Unlock() }()
			}
		})
		require.NoError(t, svc.Close())
		require.NoError(t, rdb.Close())
		for _, hold := range holds {
			if err := <-unlocked; err != nil {
				require.ErrorIs(t, err, stage6.ErrClosed)
			}
			require.Error(t, hold.Context().Err())
		}
		for _, left := range r.Keys() {
			require.Contains(t, left, ":token")
		}
	})
}

// Redis does not answer, and an Unlock begins just before Close gives up.
func TestCloseWaitsForAnUnlockNoLongerThanALease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = -1 }))
		m := mutexOf(t, svc, lockName)
		outer := lock(t, m, t.Context())
		inner := lock(t, m, outer.Context())
		r.Delay("count", time.Hour)
		r.Delay("release", time.Hour)
		go inner.Unlock()
		settle()
		began := time.Now()
		require.Error(t, svc.Close())
		require.LessOrEqual(t, time.Since(began), lease)
		require.ErrorIs(t, outer.Unlock(), stage6.ErrClosed)
		time.Sleep(2 * time.Hour)
	})
}

// A renewal is under way when the service closes. Close waits for it; the release does not.
func TestCloseDuringARenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("renew", 2*time.Second)
		time.Sleep(11 * time.Second)
		require.NoError(t, svc.Close())
		require.False(t, r.Exists(key))
		time.Sleep(time.Hour)
		require.Equal(t, []sent{{0, "acquire"}, {10 * time.Second, "renew"}, {11 * time.Second, "release"}}, r.Sent())
	})
}

// Finds a Close that waits for work which itself waits for Close.
func TestWorkMayCloseTheService(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		err := mutexOf(t, svc, lockName).Do(t.Context(), func(ctx context.Context) error {
			require.NoError(t, svc.Close())
			require.Equal(t, stage6.ErrClosed, context.Cause(ctx))
			return nil
		})
		require.ErrorIs(t, err, stage6.ErrClosed, "the service was closed during the work")
		require.False(t, r.Exists(key))
	})
}

// Finds a Close that waits for OnLost, which may close the service itself.
func TestOnLostMayCloseTheService(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var svc *stage6.Service
		closed := make(chan error, 1)
		svc = r.Service(stage6.WithOnLost(func(stage6.Loss) { closed <- svc.Close() }))
		lock(t, mutexOf(t, svc, lockName), t.Context())
		other := lock(t, mutexOf(t, svc, "order:2"), t.Context())
		r.Del(key)
		require.NoError(t, <-closed)
		require.Equal(t, stage6.ErrClosed, context.Cause(other.Context()))
		require.False(t, r.Exists("lock:{order:2}"))
	})
}

// A TryLock is under way when the service closes, and is granted. Close waits for it and
// frees the lock, so that a process may end when Close has returned.
func TestCloseWaitsForAnAcquireUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client()
		svc := r.ServiceOn(rdb)
		m := mutexOf(t, svc, lockName)
		r.Delay("acquire", time.Second)
		trying := make(chan error, 1)
		go func() { _, err := m.TryLock(t.Context()); trying <- err }()
		settle()
		require.NoError(t, svc.Close())
		require.NoError(t, rdb.Close()) // as a process does when it ends
		require.False(t, r.Exists(key), "left for %v", r.TTL(key))
		require.ErrorIs(t, <-trying, stage6.ErrClosed)
	})
}

// The client has no read timeout, and Redis never answers.
func TestCloseWaitsForAnAcquireNoLongerThanALease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = -1 }))
		m := mutexOf(t, svc, lockName)
		r.Delay("acquire", time.Hour)
		go m.TryLock(t.Context())
		settle()
		began := time.Now()
		require.NoError(t, svc.Close())
		require.LessOrEqual(t, time.Since(began), lease)
		time.Sleep(2 * time.Hour)
	})
}

// Redis does not answer, and there are more holds than Close releases concurrently.
func TestCloseOfManyHoldsTakesNoLongerThanALease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		for i := range 200 {
			lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context())
		}
		r.Delay("release", time.Hour)
		began := time.Now()
		require.Error(t, svc.Close())
		require.LessOrEqual(t, time.Since(began), lease+time.Second)
		time.Sleep(2 * time.Hour)
	})
}

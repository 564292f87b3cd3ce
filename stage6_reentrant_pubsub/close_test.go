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

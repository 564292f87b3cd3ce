package stage6_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestCloseByManyAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		hold := lock(t, mutexOf(t, svc, lockName), t.Context())
		waiting := startLock(mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", time.Second)
		var closing sync.WaitGroup
		for range 10 {
			closing.Go(func() { _ = svc.Close() }) // what is left shows that it worked
		}
		closing.Wait()
		require.False(t, r.Exists(key))
		require.Equal(t, 1, r.Count("release"))
		require.ErrorIs(t, hold.Unlock(), stage6.ErrClosed)
		require.ErrorIs(t, (<-waiting).err, stage6.ErrClosed)
	})
}

// Lock, re-entry, TryLock, TryLockFor and Unlock go on everywhere while the
// service closes. Each call ends, in one of the errors that it may end in, and no
// lock is left behind.
func TestCloseAmidLocksAndUnlocks(t *testing.T) {
	for closesAt := range 10 {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			for _, name := range scripts {
				r.Delay(name, 3*time.Millisecond) // so that the close meets each of them
			}
			r.Delay("release", 7*time.Millisecond)
			svc := r.Service()
			var working sync.WaitGroup
			for i := range 30 {
				m := mutexOf(t, svc, fmt.Sprint("order:", i%3))
				working.Go(func() { work(t, m, i) })
			}
			time.Sleep(100*time.Millisecond + time.Duration(closesAt)*time.Millisecond)
			require.NoError(t, svc.Close())
			working.Wait()
			time.Sleep(time.Second)
			require.Equal(t, []string{"lock:{order:0}:token", "lock:{order:1}:token", "lock:{order:2}:token"}, sorted(r.Keys()))
			synctest.Wait()
			require.Empty(t, r.PubSubChannels("*"))
		})
	}
}

// work locks and unlocks until the service is closed.
func work(t *testing.T, m *stage6.Mutex, i int) {
	for {
		hold, err := m.Lock(t.Context())
		if i%3 == 1 {
			hold, err = orTry(m, t.Context(), hold, err)
		}
		if errors.Is(err, stage6.ErrClosed) {
			return
		}
		require.NoError(t, err)
		inner, err := m.TryLock(hold.Context())
		if err == nil {
			requireEnded(t, inner.Unlock())
		} else {
			requireEndedByClose(t, err)
		}
		requireEnded(t, hold.Unlock())
	}
}

// orTry replaces a hold by one that TryLockFor got.
func orTry(m *stage6.Mutex, ctx context.Context, hold *stage6.Hold, err error) (*stage6.Hold, error) {
	if err != nil {
		return nil, err
	}
	if err := hold.Unlock(); err != nil {
		return nil, err
	}
	for {
		hold, err := m.TryLockFor(ctx, 10*time.Millisecond)
		if !errors.Is(err, stage6.ErrLocked) {
			return hold, err
		}
	}
}

// requireEnded asks that an Unlock released the hold, or that Close did.
func requireEnded(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		requireEndedByClose(t, err)
	}
}

// requireEndedByClose asks for what a re-entry or an unlock ends in when Close was
// faster: the hold was closed, or found released by the close.
func requireEndedByClose(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		require.ErrorIs(t, err, stage6.ErrClosed)
	}
}

// An Unlock under way when the service closes goes on, and frees the lock.
func TestCloseDuringUnlock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		hold := lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", time.Second)
		released := make(chan error, 1)
		go func() { released <- hold.Unlock() }()
		synctest.Wait()
		require.NoError(t, svc.Close())
		require.NoError(t, <-released)
		require.False(t, r.Exists(key))
	})
}

// The renewal is under way when the service closes: the release waits for it.
func TestCloseDuringARenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("renew", 2*time.Second)
		time.Sleep(11 * time.Second)
		require.NoError(t, svc.Close())
		require.False(t, r.Exists(key))
		time.Sleep(time.Hour)
		require.Equal(t, []sent{{0, "acquire"}, {10 * time.Second, "renew"}, {12 * time.Second, "release"}}, r.Sent())
	})
}

// Convicts a Close that waits for work which waits for Close.
func TestWorkMayCloseTheService(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		err := mutexOf(t, svc, lockName).Do(t.Context(), func(ctx context.Context) error {
			require.NoError(t, svc.Close())
			require.Equal(t, stage6.ErrClosed, context.Cause(ctx))
			return nil
		})
		require.ErrorIs(t, err, stage6.ErrClosed, "the work was not protected to its end")
		require.False(t, r.Exists(key))
	})
}

// Convicts a Close that waits for OnLost, which may close the service itself.
func TestOnLostMayCloseTheService(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var svc *stage6.Service
		closed := make(chan error, 1)
		svc = r.Service(stage6.WithOnLost(func(string) { closed <- svc.Close() }))
		lock(t, mutexOf(t, svc, lockName), t.Context())
		other := lock(t, mutexOf(t, svc, "order:2"), t.Context())
		r.Del(key)
		require.NoError(t, <-closed)
		require.Equal(t, stage6.ErrClosed, context.Cause(other.Context()))
		require.False(t, r.Exists("lock:{order:2}"))
	})
}

// OnLost that never comes back holds up neither the lock nor its Close.
func TestOnLostThatBlocksHoldsUpNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		comeBack := make(chan struct{})
		defer close(comeBack)
		svc := r.Service(stage6.WithOnLost(func(string) { <-comeBack }))
		m := mutexOf(t, svc, lockName)
		for range 3 {
			hold := lock(t, m, t.Context())
			r.Del(key)
			require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
		}
		began := time.Now()
		require.NoError(t, svc.Close())
		require.Zero(t, time.Since(began))
	})
}

package redlock_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/documents/redlock"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// play runs a scenario on five servers. mutex is the lock of the newest client.
func play(t *testing.T, scenario func(w *world.World, mutex **redlock.Mutex), lease ...time.Duration) *trace.Trace {
	t.Helper()
	var mutex *redlock.Mutex
	tr, err := world.Run(t, world.Config{
		Servers: 5, Lease: cmp.Or(lease...),
		New: adapters.Over(func(nodes []redis.UniversalClient, name string, lease time.Duration, source rand.Source) (world.Locker, error) {
			mutex = redlock.New(nodes, name, lease, source)
			return mutex, nil
		}),
	}, func(w *world.World) { scenario(w, &mutex) })
	require.NoError(t, err)
	return tr
}

// results returns the results of the calls with that name.
func results(tr *trace.Trace, op string) (all []*trace.Result) {
	for _, e := range tr.Events {
		if e.Kind == trace.Returned && e.Op == op {
			all = append(all, e.Result)
		}
	}
	return all
}

// With a lease of a second, 1/600 of it is less than it takes to connect.
func TestServersAreGivenTheTimeToConnect(t *testing.T) {
	play(t, func(w *world.World, mutex **redlock.Mutex) {
		a := w.Client("A")
		a.Before(world.Any).Always().Delay(10 * time.Millisecond)
		require.True(t, a.TryLock().Held())
	}, time.Second)
}

func TestHoldEndsBeforeTheLease(t *testing.T) {
	play(t, func(w *world.World, mutex **redlock.Mutex) {
		began := time.Now()
		require.True(t, w.Client("A").TryLock().Held())
		drift := w.Lease/100 + 2*time.Millisecond
		require.Equal(t, began.Add(w.Lease-drift), (*mutex).Until())
	})
}

func TestLockNeedsAMajorityOfServersThatAnswer(t *testing.T) {
	tr := play(t, func(w *world.World, _ **redlock.Mutex) {
		for n := range 3 {
			w.Server(n + 1).Stop()
		}
		a := w.Client("A")
		a.TryLock()
		a.Lock(world.Within(w.Lease / 10))
	})
	try, lock := results(tr, trace.OpTryLock)[0], results(tr, trace.OpLock)[0]
	require.ErrorContains(t, try.Err, "2 of 5 servers answer")
	require.ErrorIs(t, lock.Err, context.DeadlineExceeded)
	require.Empty(t, tr.End().Keys, "the keys that it got are released")
}

func TestUnlockOfALostLockIsRefused(t *testing.T) {
	tr := play(t, func(w *world.World, _ **redlock.Mutex) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(2 * w.Lease)
		a.Unlock()
	})
	require.ErrorIs(t, results(tr, trace.OpUnlock)[0].Err, redlock.ErrNotHeld)
}

func TestUnlockThatReachesTooFewServersFails(t *testing.T) {
	tr := play(t, func(w *world.World, _ **redlock.Mutex) {
		a := w.Client("A")
		a.Lock()
		for n := range 3 {
			w.Server(n + 1).Stop()
		}
		a.Unlock()
	})
	err := results(tr, trace.OpUnlock)[0].Err
	require.ErrorContains(t, err, "2 of 5 servers have freed it")
	require.NotErrorIs(t, err, redlock.ErrNotHeld)
}

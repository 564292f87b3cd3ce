package stage6_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
	step5 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

// The whole lock differs from step 6.5 with many waiters, many names or many holds. Each
// test compares both.

// lockable is a lock of either kind.
type lockable func(ctx context.Context) (unlock func() error, err error)

// process creates the locks of one process.
type process func(t *testing.T, rdb *redis.Client, name string) lockable

// ofStep5 creates a lock of step 6.5.
func ofStep5(t *testing.T, rdb *redis.Client, name string) lockable {
	t.Helper()
	m, err := step5.NewMutex(rdb, name, lease)
	require.NoError(t, err)
	return func(ctx context.Context) (func() error, error) {
		hold, err := m.Lock(ctx)
		if err != nil {
			return nil, err
		}
		return hold.Unlock, nil
	}
}

// ofWhole returns a process with the whole lock: one service for all names.
func ofWhole(r *redisNode) process {
	services := map[*redis.Client]*stage6.Service{}
	return func(t *testing.T, rdb *redis.Client, name string) lockable {
		t.Helper()
		if services[rdb] == nil {
			services[rdb] = r.ServiceOn(rdb)
		}
		m := mutexOf(t, services[rdb], name)
		return func(ctx context.Context) (func() error, error) {
			hold, err := m.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return hold.Unlock, nil
		}
	}
}

// onBoth plays the same story with step 6.5 and with the whole lock, and returns the result of each.
func onBoth(t *testing.T, story func(t *testing.T, r *redisNode, make process) int) (before, whole int) {
	t.Helper()
	inBubble(t, func(t *testing.T, r *redisNode) { before = story(t, r, ofStep5) })
	inBubble(t, func(t *testing.T, r *redisNode) { whole = story(t, r, ofWhole(r)) })
	t.Logf("step 6.5: %d, the whole lock: %d", before, whole)
	return before, whole
}

// attempts returns how often a client tried to take a lock, of either kind.
func attempts(r *redisNode) int { return r.Count("acquire") + r.Count("EVAL acquire") }

// Ten goroutines of a process wait. At each hand-over only one of them tries.
func TestTenWaitersOfAProcessTryOneAfterAnother(t *testing.T) {
	before, whole := onBoth(t, func(t *testing.T, r *redisNode, make process) int {
		holder, m := make(t, r.Client(), lockName), make(t, r.Client(), lockName)
		unlock, err := holder(t.Context())
		require.NoError(t, err)
		served := 0
		for range 10 {
			go func() {
				unlock, err := m(context.WithoutCancel(t.Context()))
				if err == nil {
					served++ // guarded by the lock
					_ = unlock()
				}
			}()
		}
		r.Forget()
		require.NoError(t, unlock())
		settle()
		time.Sleep(lease)
		require.Equal(t, 10, served)
		return attempts(r)
	})
	require.Greater(t, before, whole, "how many of them go-redis wakes at once is the scheduler's choice")
	require.LessOrEqual(t, whole, 11)
}

// Fifty locks are held elsewhere, and a process waits for each.
func TestFiftyContendedNamesNeedOneConnection(t *testing.T) {
	const names = 50
	before, whole := onBoth(t, func(t *testing.T, r *redisNode, make process) int {
		holder, waiter := r.Client(), r.Client()
		var unlock []func() error
		for i := range names {
			u, err := make(t, holder, fmt.Sprint("order:", i))(t.Context())
			require.NoError(t, err)
			unlock = append(unlock, u)
		}
		connected := r.CurrentConnectionCount()
		for i := range names {
			m := make(t, waiter, fmt.Sprint("order:", i))
			go func() {
				if unlock, err := m(context.WithoutCancel(t.Context())); err == nil {
					_ = unlock()
				}
			}()
			settle() // one after another, since they share a connection
		}
		connections := r.CurrentConnectionCount() - connected
		for _, u := range unlock {
			require.NoError(t, u())
		}
		settle()
		return connections
	})
	require.GreaterOrEqual(t, before, names)
	require.LessOrEqual(t, whole, 2, "one of the pool, one for the subscription")
}

// A process holds a thousand locks and does nothing else.
func TestAThousandHoldsNeedNoGoroutine(t *testing.T) {
	before, whole := onBoth(t, func(t *testing.T, r *redisNode, make process) int {
		rdb := r.Client()
		first, err := make(t, rdb, "first")(t.Context())
		require.NoError(t, err)
		settle()
		running := runtime.NumGoroutine() // goroutines of an earlier test may be among them, and end
		unlock := []func() error{first}
		for i := range 1000 {
			u, err := make(t, rdb, fmt.Sprint("order:", i))(t.Context())
			require.NoError(t, err)
			unlock = append(unlock, u)
		}
		settle()
		goroutines := runtime.NumGoroutine() - running
		time.Sleep(time.Second) // the world takes more commands in a second for an endless loop
		for _, u := range unlock {
			require.NoError(t, u())
		}
		return goroutines
	})
	require.GreaterOrEqual(t, before, 1000-5)
	require.LessOrEqual(t, whole, 5)
}

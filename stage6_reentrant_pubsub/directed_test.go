package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

const (
	waitersKey  = key + ":waiters"
	reservation = 60 * time.Millisecond
)

// directed is the lock of a process of its own.
func (r *fakeRedis) directed() *stage6.Mutex { return r.Mutex(stage6.WithDirectedWakeups()) }

// asked is how many acquires reached Redis.
func (r *fakeRedis) asked() int {
	return r.Count("acquire_directed") + r.Count("EVAL acquire_directed")
}

// ghost is a process that waits, that hears, and that stands still.
func (r *fakeRedis) ghost(name string) {
	r.t.Helper()
	rdb := r.Client()
	sub := rdb.Subscribe(r.t.Context(), channel+":"+name)
	r.t.Cleanup(func() { _ = sub.Close() })
	_, err := sub.Receive(r.t.Context())
	require.NoError(r.t, err)
	_ = sub.Channel() // it hears, and does nothing
	r.gone(name)
}

// gone is a process that waited and is no more.
func (r *fakeRedis) gone(name string) {
	r.t.Helper()
	_, err := r.ZAdd(waitersKey, float64(time.Now().UnixMicro()), name)
	require.NoError(r.t, err)
	time.Sleep(time.Millisecond)
}

// Broadcast would wake all eight for each hand-over.
func TestDirectedHandOverIsOneAttemptInTheOrderOfTheProcesses(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		var waiting []chan outcome
		for range 8 {
			time.Sleep(time.Millisecond)
			waiting = append(waiting, startLock(r.directed(), t.Context()))
		}
		for _, next := range waiting {
			before := r.asked()
			require.NoError(t, hold.Unlock())
			hold = requireHeld(t, next)
			require.Equal(t, 1, r.asked()-before)
		}
		require.NoError(t, hold.Unlock())
		require.Equal(t, []string{tokenKey}, r.Keys(), "nobody waits any more")
	})
}

func TestDirectedProcessWithSeveralWaitersGoesToTheEndOfTheQueueAfterEach(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		a, b := r.directed(), r.directed()
		var waiting []chan outcome
		for _, m := range []*stage6.Mutex{a, a, b, b} {
			time.Sleep(time.Millisecond)
			waiting = append(waiting, startLock(m, t.Context()))
		}
		for _, next := range []int{0, 2, 1, 3} {
			require.NoError(t, hold.Unlock())
			hold = requireHeld(t, waiting[next])
			time.Sleep(time.Millisecond)
		}
	})
}

// It began to wait while its own process held the lock: Redis did not know.
func TestDirectedWaiterBehindItsOwnProcessIsWoken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m, other := r.directed(), r.directed()
		hold := lock(t, other, t.Context())
		first := startLock(m, t.Context())
		require.NoError(t, hold.Unlock())
		hold = requireHeld(t, first)
		second := startLock(m, t.Context())
		third := startLock(m, t.Context())
		require.NoError(t, hold.Unlock())
		hold = requireHeld(t, second)
		require.NoError(t, hold.Unlock())
		requireHeld(t, third)
	})
}

// Its room was there, but Redis had been told that nobody else waits in it.
func TestDirectedWaiterWhoComesWhileTheFirstIsServedIsWoken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.directed()
		hold := lock(t, r.directed(), t.Context())
		first := startLock(m, t.Context())
		r.Delay("acquire_directed", time.Millisecond)
		require.NoError(t, hold.Unlock())
		second := startLock(m, t.Context())
		time.Sleep(2 * time.Millisecond)
		hold = requireHeld(t, first)
		time.Sleep(time.Second)
		require.NoError(t, hold.Unlock())
		time.Sleep(2 * time.Millisecond)
		requireHeld(t, second)
	})
}

func TestDirectedWaiterWhoFoundTheLockFreeIsNoLongerInTheQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		r.HSet(key, "dead:1", "1")
		r.SetTTL(key, time.Second)
		waiting := startLock(r.directed(), t.Context())
		time.Sleep(time.Second + time.Millisecond)
		requireHeld(t, waiting)
		require.False(t, r.Exists(waitersKey))
	})
}

func TestDirectedProcessThatIsGoneIsPassedOverAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		r.gone("a")
		r.gone("b")
		waiting := startLock(r.directed(), t.Context())
		require.NoError(t, hold.Unlock())
		requireHeld(t, waiting)
	})
}

func TestDirectedDeputyTakesTheLockOfAChosenProcessThatStandsStill(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		r.ghost("a")
		r.gone("b")
		deputy := startLock(r.directed(), t.Context())
		time.Sleep(time.Millisecond)
		last := startLock(r.directed(), t.Context())
		require.NoError(t, hold.Unlock())
		requireWaiting(t, deputy)
		time.Sleep(reservation + time.Millisecond)
		hold = requireHeld(t, deputy)
		require.NoError(t, hold.Unlock())
		requireHeld(t, last) // the one that stands still is not asked again
	})
}

// Beyond one process that stands still, the lease is what ends the wait.
func TestDirectedWaiterLooksWhenTheLeaseWouldBeOver(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		r.ghost("a")
		r.ghost("b")
		waiting := startLock(r.directed(), t.Context())
		require.NoError(t, hold.Unlock())
		time.Sleep(lease + time.Millisecond)
		requireHeld(t, waiting)
	})
}

func TestDirectedLockIsKeptForTheChosenOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		r.ghost("a")
		require.NoError(t, hold.Unlock())
		m := r.directed()
		_, err := m.TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		locked, err := m.IsLocked(t.Context())
		require.NoError(t, err)
		require.False(t, locked, "nobody holds it")
		freed, err := m.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.False(t, freed)
		newcomer := startLock(m, t.Context()) // nobody else is told to look
		time.Sleep(reservation)
		requireWaiting(t, newcomer)
		time.Sleep(time.Millisecond)
		requireHeld(t, newcomer)
	})
}

func TestDirectedWakeUpIsPassedOnByOneWhoLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.directed(), t.Context())
		leaves := startLock(r.directed(), t.Context())
		time.Sleep(time.Millisecond)
		stays := startLock(r.directed(), t.Context())
		r.Refuse("acquire_directed", "OOM command not allowed when used memory > 'maxmemory'") // when it is chosen
		require.NoError(t, hold.Unlock())
		require.ErrorContains(t, (<-leaves).err, "OOM")
		requireHeld(t, stays)
	})
}

func TestDirectedWaiterWhoLeavesIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.directed(), t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		leaves := startLock(r.directed(), ctx)
		require.True(t, r.Exists(waitersKey))
		require.Positive(t, r.TTL(waitersKey), "what nobody needs goes away by itself")
		cancel()
		require.Error(t, (<-leaves).err)
		require.Eventually(t, func() bool { return !r.Exists(waitersKey) }, time.Second, time.Millisecond)
	})
}

// A server's clock that jumps back would keep the lock for hours.
func TestDirectedReservationOutlivesNoJumpOfTheClock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		_, err := r.ZAdd(waitersKey, -float64(time.Now().Add(time.Hour).UnixMicro()), "a")
		require.NoError(t, err)
		lock(t, r.directed(), t.Context())
	})
}

func TestDirectedForceUnlockWakesTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.directed()
		lock(t, m, t.Context())
		waiting := startLock(r.directed(), t.Context())
		freed, err := m.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.True(t, freed)
		requireHeld(t, waiting)
	})
}

// The keys of a slot on the move cannot be used together.
func TestDirectedUnlockFreesTheLockWhileItsSlotMoves(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		warm := lock(t, r.directed(), t.Context())
		require.NoError(t, warm.Unlock())
		hold := lock(t, r.directed(), t.Context())
		moving := "TRYAGAIN Multiple keys request during rehashing of slot"
		r.Refuse("release_directed", moving, moving, moving, moving, moving, moving)
		require.NoError(t, hold.Unlock())
		require.False(t, r.Exists(key))
	})
}

func TestWakeUpsThatTheClientOrTheLayoutLacksAreRefused(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ContextTimeoutEnabled: true})
	single := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, cluster.Close()); require.NoError(t, single.Close()) })
	for _, c := range []struct {
		rdb  redis.UniversalClient
		opts []stage6.Option
		says string
	}{
		{single, []stage6.Option{stage6.WithShardedPubSub()}, "leave WithShardedPubSub out"},
		{cluster, []stage6.Option{stage6.WithDirectedWakeups()}, "add WithShardedPubSub"},
		{single, []stage6.Option{stage6.WithDirectedWakeups(), stage6.WithLayout(stage6.RedissonLayout)}, "layout has no Waiters"},
		{cluster, []stage6.Option{stage6.WithShardedPubSub(), stage6.WithDirectedWakeups()}, ""},
	} {
		svc, err := stage6.NewService(c.rdb, c.opts...)
		if c.says == "" {
			require.NoError(t, err)
			require.NoError(t, svc.Close())
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
}

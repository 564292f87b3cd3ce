//go:build live

package stage6_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// owners returns the owners of the locks that have a lease, by key, for each server.
func (r *router) owners() (all []map[string][]string) {
	for _, s := range r.servers {
		on := map[string][]string{}
		for _, key := range s.admin.Keys(s.t.Context(), "lock:{*}").Val() {
			if s.admin.PTTL(s.t.Context(), key).Val() > 0 {
				on[key] = s.admin.HKeys(s.t.Context(), key).Val()
			}
		}
		all = append(all, on)
	}
	return all
}

// The first renewal is for all locks at once. The proxy refuses it, or sends it to one server,
// which does not have the locks of the other. The locks are then renewed one by one.
func TestLocksOnSeveralServersAreRenewedBehindAProxy(t *testing.T) {
	t.Parallel()
	for name, sameSlot := range map[string]bool{
		"a script goes to the server of its first key": false,
		"keys of a script must be in the same slot":    true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const locks, lease = 10, lease / 2
			r := startRouter(t, sameSlot)
			svc := serviceOn(t, clientOf(t, r.Addr().String()), final.WithWatchdogTimeout(lease))
			var holds []*final.Hold
			for i := range locks {
				m, err := svc.Mutex(fmt.Sprint("order:", 1001+i))
				require.NoError(t, err)
				holds = append(holds, lock(t, m, t.Context()))
			}
			owners := r.owners()
			require.NotEmpty(t, owners[0])
			require.NotEmpty(t, owners[1])
			require.Equal(t, locks, len(owners[0])+len(owners[1]))
			waiting := startLock(t, mutexOn(t, clientOf(t, r.Addr().String()), forever))
			r.servers[r.indexOf(channel)].AwaitWaiters(1)

			requireSurvives(t, holds[0], lease)
			shared := r.shared.Load()
			require.Positive(t, shared, "there was no common renewal")
			requireSurvives(t, holds[0], 5*lease/2)
			for i, hold := range holds {
				require.NoError(t, context.Cause(hold.Context()), "order:%d", 1001+i)
			}
			require.Equal(t, shared, r.shared.Load(), "not one by one after the first lease")
			require.Equal(t, owners, r.owners())

			for _, hold := range holds {
				require.NoError(t, hold.Unlock())
			}
			require.NoError(t, requireHeld(t, waiting).Unlock())
			for _, left := range r.owners() {
				require.Empty(t, left)
			}
		})
	}
}

// While Redis is down, the waiter receives no messages. It subscribes again after the restart.
func TestHolderAndWaiterSurviveRestartsWithoutDataLoss(t *testing.T) {
	t.Parallel()
	s := start(t, "--appendonly", "yes", "--appendfsync", "always")
	m := s.Mutex()
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	waiting := startLock(t, s.Mutex(forever))
	for range 2 {
		s.AwaitWaiters(1)
		s.restart()
	}
	s.AwaitWaiters(1)
	requireSurvives(t, outer, 3*lease/2)
	require.Equal(t, []string{"2"}, s.HoldCounts())
	require.Empty(t, waiting, "it should still wait")
	require.NoError(t, inner.Unlock())
	require.NoError(t, outer.Unlock())
	next := requireHeld(t, waiting)
	require.Greater(t, next.Token(), outer.Token())
	require.NoError(t, next.Unlock())
}

// A full Redis refuses commands that need memory. Renewals and unlocks do not. A waiter gets the
// error when the lock is free.
func TestFullRedisStillRenewsReentersAndUnlocks(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex()
	outer := lock(t, m, t.Context())
	inner := lock(t, m, outer.Context())
	waiting := startLock(t, s.Mutex())
	s.AwaitWaiters(1)
	s.Set("maxmemory", "1")
	require.ErrorContains(t, s.admin.Set(t.Context(), "k", "v", 0).Err(), "OOM")
	requireSurvives(t, outer, 3*lease/2)
	innermost := lock(t, m, inner.Context())
	require.Equal(t, []string{"3"}, s.HoldCounts())
	require.NoError(t, innermost.Unlock())
	require.NoError(t, inner.Unlock())
	require.Equal(t, []string{"1"}, s.HoldCounts())
	require.NoError(t, outer.Unlock())
	require.ErrorContains(t, receive(t, waiting, "it still waits").err, "OOM")
	require.Zero(t, s.admin.Exists(t.Context(), key).Val())
}

// The key keeps its name and owner, so nothing was lost. PERSIST removes the lease; the next
// renewal sets one again.
func TestHoldSurvivesRenameAndPersist(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.Mutex()
	hold := lock(t, m, t.Context())
	require.NoError(t, s.admin.Rename(t.Context(), key, "elsewhere").Err())
	require.NoError(t, s.admin.Rename(t.Context(), "elsewhere", key).Err())
	require.NoError(t, lock(t, m, hold.Context()).Unlock())
	require.NoError(t, s.admin.Persist(t.Context(), key).Err())
	eventually(t, func() bool { return s.admin.PTTL(t.Context(), key).Val() > 0 }, "it has no lease")
	require.NoError(t, hold.Unlock())
}

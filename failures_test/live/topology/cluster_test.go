//go:build live

package topology_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestLockWorksOnAClusterInEveryLayout(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for name, layout := range map[string]stage6.Layout{"default": stage6.DefaultLayout, "redisson": stage6.RedissonLayout} {
		t.Run(name, func(t *testing.T) {
			a := join(t, c.client(t), long, stage6.WithLayout(layout))
			b := join(t, c.client(t), long, stage6.WithLayout(layout))
			for _, name := range []string{"order:1001", "{order}:1001", "a{b}c", "with spaces\nand lines"} {
				require.Equal(t, c.slotOf(t, layout.Key(name)), c.slotOf(t, layout.Token(name)), name)
				hold, err := a.mutex(t, name).TryLock(t.Context())
				require.NoError(t, err, name)
				inner, err := a.mutex(t, name).Lock(hold.Context())
				require.NoError(t, err, name)
				_, err = b.mutex(t, name).TryLock(t.Context())
				require.ErrorIs(t, err, stage6.ErrLocked, name)
				require.NoError(t, inner.Unlock(), name)
				require.NoError(t, hold.Unlock(), name)
				next, err := b.mutex(t, name).TryLock(t.Context())
				require.NoError(t, err, name)
				require.Greater(t, next.Token(), hold.Token(), name)
				require.NoError(t, next.Unlock(), name)
			}
		})
	}
}

// Redisson's key has the name as it is: braces that are no hash tag would put lock and
// token on two nodes, and no acquire would ever work.
func TestNameWhoseKeyAndTokenWouldBeInTwoSlotsIsRefusedOnACluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := join(t, c.client(t), long, stage6.WithLayout(stage6.RedissonLayout))
	for _, name := range []string{"a}b", "a{b", "{}a"} {
		_, err := p.svc.Mutex(name)
		require.ErrorContains(t, err, "slots", name)
	}
}

func TestWaiterOnAClusterIsWoken(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, b := join(t, c.client(t), long), join(t, c.client(t), long)
	hold := a.lock(t)
	done := b.wait(t)
	c.owner(t, channel).waitForSubscribers(t, 1)
	require.NoError(t, hold.Unlock())
	next := served(t, soon, done)
	_, err := a.mutex(t, lockName).ForceUnlock(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, next.Unlock(), stage6.ErrLost)
}

// A renewal of many locks whose slots differ is refused by a Cluster as a whole.
func TestManyLocksOverAllSlotsAreRenewedOnACluster(t *testing.T) {
	t.Parallel()
	const locks, periods = 300, 4
	c := startCluster(t)
	p := join(t, c.client(t), 6*time.Second)
	var holds []*stage6.Hold
	for i := range locks {
		hold, err := p.mutex(t, fmt.Sprintf("order:%d", i)).TryLock(t.Context())
		require.NoError(t, err)
		holds = append(holds, hold)
	}
	for _, n := range c.nodes {
		require.Greater(t, n.do(t, "DBSIZE").(int64), int64(locks/3), "every node has its share")
	}
	eventually(t, "the renewals of all locks", func() error {
		p.requireNothingLost(t)
		if p.renewals() < locks*periods {
			return errors.New("not yet")
		}
		return nil
	})
	for _, hold := range holds {
		require.NoError(t, hold.Context().Err())
		require.NoError(t, hold.Unlock())
	}
	p.requireNothingLost(t)
}

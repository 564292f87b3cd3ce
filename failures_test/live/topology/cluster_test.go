//go:build live

package topology

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestLockWorksOnAClusterInEveryLayout(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	for _, names := range []stage6.Option{stage6.WithPrefix("lock:"), stage6.WithRedissonNames()} {
		a := join(t, c.Client(), long, names)
		b := join(t, c.Client(), long, names)
		for _, name := range []string{lockName, "{order}:1001", "a{b}c", "with spaces\nand lines"} {
			hold := a.take(name)
			inner, err := a.mutex(name).Lock(hold.Context())
			require.NoError(t, err, name)
			_, err = b.mutex(name).TryLock(t.Context())
			require.ErrorIs(t, err, stage6.ErrLocked, name)
			require.NoError(t, inner.Unlock(), name)
			require.NoError(t, hold.Unlock(), name)
			next := b.take(name)
			require.Greater(t, next.Token(), hold.Token(), name)
			require.NoError(t, next.Unlock(), name)
		}
	}
}

// With such a name, lock and token have different slots. Redis refuses the command and writes
// nothing.
func TestClusterRefusesANameWithTwoSlots(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	for name, names := range map[string]stage6.Option{"}order": stage6.WithPrefix("lock:"), "a{b": stage6.WithRedissonNames()} {
		p := join(t, c.Client(), long, names)
		_, err := p.mutex(name).Lock(t.Context())
		require.ErrorContains(t, err, "CROSSSLOT", name)
	}
	for _, n := range c.Nodes {
		require.Zero(t, n.do("DBSIZE"), "something was written")
	}
}

// A Cluster refuses a command with keys in different slots, so the locks are renewed in several
// commands. Two locks with the same slot may share a command, which needs both keys on one node:
// they must be renewed even if they are on two nodes for longer than a lease.
func TestLocksInAllSlotsAreRenewedDuringASlotMigration(t *testing.T) {
	t.Parallel()
	const locks, periods = 300, 4                          // a period is a third of the lease
	names := []string{"{order:1001", "{order:1001}:lines"} // both keys have the tag order:1001, after another brace
	first, second := "lock:{"+names[0]+"}", "lock:{"+names[1]+"}"
	c := StartCluster(t, 3)
	require.Equal(t, c.slotOf(first), c.slotOf(second))
	p := join(t, c.Client(), 6*time.Second)
	for i := range locks {
		names = append(names, fmt.Sprintf("order:%d", i))
	}
	var holds []*stage6.Hold
	for _, name := range names {
		holds = append(holds, p.take(name))
	}
	for _, n := range c.Nodes {
		require.Greater(t, n.do("DBSIZE").(int64), int64(locks/3), "every node has its share")
	}
	c.begin(first).carry(first)
	p.waitForRenewals(int64(len(names) * periods))
	for _, hold := range holds {
		require.NoError(t, hold.Context().Err())
		require.NoError(t, hold.Unlock())
	}
	requireNothingLost(p)
}

// Without a replica, the locks of a dead node can be neither renewed nor acquired until it
// restarts.
func TestLocksOfADeadNodeAreLostUntilItRestarts(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second
	c := StartCluster(t, 3)
	a, b := join(t, c.Client(), lease), join(t, c.Client(), lease)
	hold := a.take(lockName)
	owner := c.ownerOf(key)
	owner.Kill()

	require.Error(t, ended(t, within, inBackground(b.Lock)).err)
	requireLost(t, hold)
	require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)

	require.NoError(t, owner.Launch(t.Context()))
	c.waitUntilWhole()
	next := b.takesAgain(t.Context())
	require.Greater(t, next.Token(), hold.Token(), "the node has forgotten the last token")
	require.NoError(t, next.Unlock())
}

// A restarted node has lost its locks, so the waiter acquires the lock.
func TestWaiterSurvivesARestartOfItsNode(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	a, b := join(t, c.Client(), 12*time.Second), join(t, c.Client(), long)
	holdA, done, owner := a.take(lockName), inBackground(b.Lock), c.ownerOf(key)
	owner.waitForWaiters(1)
	owner.Kill()
	require.NoError(t, owner.Launch(t.Context()))
	holdB := served(t, within, done)
	require.Greater(t, holdB.Token(), holdA.Token())
	a.requireTold(holdA)
	require.NoError(t, holdB.Context().Err())
}

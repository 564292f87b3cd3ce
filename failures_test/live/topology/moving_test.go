//go:build live

package topology

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// slotOf returns the slot of a key according to the Cluster.
func (c *Cluster) slotOf(key string) int {
	return int(c.Nodes[0].do("CLUSTER", "KEYSLOT", key).(int64))
}

// ownerOf returns the node that had the slot of a key at first.
func (c *Cluster) ownerOf(key string) *Node {
	slot := c.slotOf(key)
	return c.Nodes[slices.IndexFunc(c.Nodes, func(n *Node) bool { return slot <= n.last })]
}

// move is the migration of one slot from its node to another.
type move struct {
	slot            int
	from, to, third *Node
}

// moveOf returns a migration of the slot of a key from the node that had it at first.
func (c *Cluster) moveOf(key string) move {
	m := move{slot: c.slotOf(key), from: c.ownerOf(key)}
	for _, n := range c.Nodes {
		if n != m.from {
			m.to, m.third = n, m.to
		}
	}
	return m
}

// begin starts to migrate the slot of a key: from now on its keys may be on either node.
func (c *Cluster) begin(key string) move {
	m := c.moveOf(key)
	m.begin()
	return m
}

func (m move) begin() {
	m.to.do("CLUSTER", "SETSLOT", m.slot, "IMPORTING", m.from.id)
	m.from.do("CLUSTER", "SETSLOT", m.slot, "MIGRATING", m.to.id)
}

// carry moves one key to the other node.
func (m move) carry(key string) { require.Equal(m.from.t, "OK", m.migrate(key)) }

// migrate moves one key to the other node, and returns OK, or NOKEY if the key no longer exists.
func (m move) migrate(key string) any {
	host, port := m.to.hostPort()
	return m.from.do("MIGRATE", host, port, key, 0, within.Milliseconds())
}

// end assigns the slot to the other node. The first node must have none of its keys.
func (m move) end() {
	for _, n := range []*Node{m.to, m.from, m.third} { // in this order the slot always has an owner
		n.do("CLUSTER", "SETSLOT", m.slot, "NODE", m.to.id)
	}
}

// requireKeys requires that the two nodes have these keys in the slot.
func (m move) requireKeys(from, to []any) {
	m.from.t.Helper()
	for n, want := range map[*Node][]any{m.from: from, m.to: to} {
		require.ElementsMatch(n.t, want, n.do("CLUSTER", "GETKEYSINSLOT", m.slot, 100))
	}
}

// waitForRefusals waits until Redis has refused that many commands because their keys are on two
// nodes.
func (m move) waitForRefusals(count int) {
	m.from.t.Helper()
	m.from.waitForCount("errorstat_TRYAGAIN:count=", count)
}

// holdAndWait lets a acquire the lock and b wait for it. Each first tries a script that Redis does
// not know. b tries before its subscription and when that is acknowledged, and from then on only
// waits for messages.
func holdAndWait(c *Cluster, a, b *party) (*stage6.Hold, <-chan outcome) {
	hold, done := a.take(lockName), inBackground(b.Lock)
	c.ownerOf(key).waitForWaiters(1)
	c.ownerOf(key).waitForCount("cmdstat_evalsha:calls=", 3)
	return hold, done
}

// The slot moves while a holds the lock and b waits: TRYAGAIN, ASK and MOVED must not end the hold,
// and no wake-up may be lost.
func TestHoldAndWaiterSurviveASlotMigration(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	a, b := join(t, c.Client(), 12*time.Second), join(t, c.Client(), long)
	hold, done := holdAndWait(c, a, b)

	m := c.begin(key)
	m.carry(key)
	a.waitForRenewals(1) // ASK
	m.carry(tokenKey)
	m.end()
	a.waitForRenewals(1) // MOVED
	m.requireKeys(nil, []any{key, tokenKey})

	require.NoError(t, hold.Unlock())
	next := served(t, soon, done)
	require.Greater(t, next.Token(), hold.Token())
	require.NoError(t, next.Unlock())
	requireNothingLost(a, b)
}

// If lock and token are on two nodes when the waiter is woken, its Lock must not fail.
func TestWaiterWokenDuringASlotMigrationGetsTheLockAfterIt(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	a, b := join(t, c.Client(), long), join(t, c.Client(), long)
	hold, done := holdAndWait(c, a, b)
	m := c.begin(key)
	m.carry(key)
	require.NoError(t, hold.Unlock(), "its only key is on one node, and a channel has no slot")
	m.waitForRefusals(15) // more than those of one attempt
	require.Empty(t, done, "the waiter gives up")
	m.carry(tokenKey)
	m.end()
	require.Greater(t, served(t, soon, done).Token(), hold.Token())
}

// All operations of a holder, and ForceUnlock, have one key, so they work on either node.
func TestHolderContinuesDuringASlotMigration(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	a, stranger := join(t, c.Client(), 9*time.Second), join(t, c.Client(), long)
	hold := a.take(lockName)
	m := c.begin(key)
	m.carry(key)
	m.requireKeys([]any{tokenKey}, []any{key})

	inner, err := a.Lock(hold.Context())
	require.NoError(t, err)
	count, err := a.HoldCount(hold.Context())
	require.NoError(t, err)
	require.Equal(t, 2, count)
	require.NoError(t, inner.Unlock())
	locked, err := stranger.IsLocked(t.Context())
	require.NoError(t, err)
	require.True(t, locked)
	left, err := stranger.RemainingTTL(t.Context())
	require.NoError(t, err)
	require.Positive(t, left)

	freed, err := stranger.ForceUnlock(t.Context())
	require.NoError(t, err)
	require.True(t, freed)
	m.requireKeys([]any{tokenKey}, nil)
	a.requireTold(hold)
}

// An acquire needs lock and token on one node. While they are on two, it is refused and writes
// nothing. But one attempt usually waits longer than that takes.
func TestAcquireDuringASlotMigrationIsRefusedOrWaitsForItsEnd(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	a, b := join(t, c.Client(), long), join(t, c.Client(), long)
	earlier := a.take(lockName)
	require.NoError(t, earlier.Unlock())
	m := c.begin(key)
	refused := func() {
		t.Helper()
		_, err := b.TryLock(t.Context())
		require.ErrorContains(t, err, "TRYAGAIN")
		require.ErrorContains(t, err, "stage6: lock "+key)
	}
	refused() // the token is here; the lock does not exist, but might be there
	m.requireKeys([]any{tokenKey}, nil)
	m.carry(tokenKey)
	refused()
	m.requireKeys(nil, []any{tokenKey})

	m.to.do("CONFIG", "RESETSTAT")
	tried := inBackground(b.TryLock)
	m.to.waitForCount("errorstat_TRYAGAIN:count=", 1)
	m.end()
	require.Greater(t, served(t, within, tried).Token(), earlier.Token())
}

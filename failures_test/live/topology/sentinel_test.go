//go:build live

package topology_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The master dies after its replicas have heard of the lock: a renewal fails, but for
// its holder and for those who wait nothing has happened.
func TestHoldThatWasReplicatedOutlivesItsMasterAndItsWaitersAreServed(t *testing.T) {
	t.Parallel()
	g := startGroup(t)
	master := g.servers[0]
	a, b, c := join(t, g.client(t), 15*time.Second), join(t, g.client(t), long), join(t, g.client(t), long)
	hold := a.lock(t)
	doneB, doneC := b.wait(t), c.wait(t)
	master.waitForSubscribers(t, 2)
	require.EqualValues(t, 2, master.do(t, "WAIT", 2, within.Milliseconds()))

	g.patience(t, time.Hour)
	master.Kill()
	a.waitForFailedRenewal(t)
	g.patience(t, downAfter)
	next := g.promoted(t)
	next.waitForSubscribers(t, 2)
	reenter(t, a, hold)
	require.NoError(t, hold.Unlock())

	var orders ledger
	require.True(t, orders.write("A", hold.Token()))
	for range 2 { // woken, one after the other, by messages of the new master
		select {
		case o := <-doneB:
			require.NoError(t, o.err)
			require.True(t, orders.write("B", o.hold.Token()))
			require.NoError(t, o.hold.Unlock())
		case o := <-doneC:
			require.NoError(t, o.err)
			require.True(t, orders.write("C", o.hold.Token()))
			require.NoError(t, o.hold.Unlock())
		case <-time.After(soon):
			require.Fail(t, "the next waiter is not woken")
		}
	}
	for _, p := range []*party{a, b, c} {
		p.requireNothingLost(t)
	}
}

// reenter asks until the hold goes on at the new master: a connection to the old one
// may still have to break.
func reenter(t *testing.T, p *party, hold *stage6.Hold) {
	t.Helper()
	eventually(t, "a re-entry at the new master", func() error {
		inner, err := p.mutex(t, lockName).Lock(hold.Context())
		if err != nil {
			return err
		}
		return inner.Unlock()
	})
}

// The master dies with the only copy of the lock. Whoever waits gets it from the
// new master, and the old holder is told by the first renewal that reaches that.
func TestHoldThatWasNotReplicatedIsNoticedAsLostAndRefusedByTheLedger(t *testing.T) {
	t.Parallel()
	g := startGroup(t)
	master := g.servers[0]
	a, b := join(t, g.client(t), 9*time.Second), join(t, g.client(t), long)
	earlier := a.lock(t)
	require.NoError(t, earlier.Unlock())
	require.EqualValues(t, 2, master.do(t, "WAIT", 2, within.Milliseconds()))
	for _, replica := range g.servers[1:] {
		replica.cut(t, master)
	}
	holdA := a.lock(t)
	doneB := b.wait(t)
	master.waitForSubscribers(t, 1)

	master.Kill()
	for _, replica := range g.servers[1:] {
		replica.do(t, "CONFIG", "SET", "masterauth", "")
	}
	holdB := served(t, within, doneB)
	require.Greater(t, holdB.Token(), holdA.Token())
	var orders ledger
	require.True(t, orders.write("A", holdA.Token()))
	require.True(t, orders.write("B", holdB.Token()))
	require.False(t, orders.write("A", holdA.Token()), "the stale holder is refused, whether he knows or not")
	requireLost(t, holdA)
	require.NoError(t, holdB.Context().Err())
	require.NoError(t, holdB.Unlock())
}

// A planned failover loses nothing that was written before it.
func TestPlannedFailoverIsFollowedByHolderAndWaiter(t *testing.T) {
	t.Parallel()
	g := startGroup(t)
	a, b := join(t, g.client(t), long), join(t, g.client(t), long)
	hold := a.lock(t)
	done := b.wait(t)
	g.servers[0].waitForSubscribers(t, 1)
	require.EqualValues(t, 2, g.servers[0].do(t, "WAIT", 2, within.Milliseconds()))

	eventually(t, "a failover on demand", func() error {
		return g.sentinels[0].rdb.Do(t.Context(), "SENTINEL", "FAILOVER", masterName).Err()
	})
	next := g.promoted(t)
	g.servers[0].waitForField(t, "replication", "role", "slave")
	next.waitForSubscribers(t, 1)
	reenter(t, a, hold)
	require.NoError(t, hold.Unlock())
	holdB := served(t, soon, done)
	require.Greater(t, holdB.Token(), hold.Token())
	require.NoError(t, holdB.Unlock())
	a.requireNothingLost(t)
	b.requireNothingLost(t)
}

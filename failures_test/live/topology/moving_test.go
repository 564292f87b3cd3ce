//go:build live

package topology_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// A waiter has time: that lock and token are apart when it is woken must not end its
// Lock.
func TestWaiterWokenInASlotThatIsHalfMovedGetsTheLockWhenItHasMoved(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, b := join(t, c.client(t), long), join(t, c.client(t), long)
	hold := a.lock(t)
	done := b.wait(t)
	c.owner(t, key).waitForSubscribers(t, 1)
	c.owner(t, key).waitForRefusals(t)
	m := c.begin(t, key)
	m.carry(t, key)
	require.NoError(t, hold.Unlock())
	eventually(t, "a refusal", func() error { return m.from.refused(t, "TRYAGAIN") })
	select {
	case o := <-done:
		require.NoError(t, o.err)
	case <-time.After(time.Second): // more than one attempt lasts
	}
	m.carry(t, tokenKey)
	m.end(t)
	next := served(t, soon, done)
	require.Greater(t, next.Token(), hold.Token())
}

// Two locks of one slot share a command, which needs them on one node: apart for longer
// than a lease they must be renewed all the same.
func TestLocksOfOneSlotAreRenewedWhileTheyAreApart(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := join(t, c.client(t), 6*time.Second)
	names := []string{"{order:1001", "{order:1001}:lines"} // both have the tag of order:1001, after another brace
	var holds []*stage6.Hold
	for _, name := range names {
		hold, err := p.mutex(t, name).TryLock(t.Context())
		require.NoError(t, err)
		holds = append(holds, hold)
	}
	require.Equal(t, c.slotOf(t, stage6.DefaultLayout.Key(names[0])), c.slotOf(t, stage6.DefaultLayout.Key(names[1])))
	m := c.begin(t, stage6.DefaultLayout.Key(names[0]))
	m.carry(t, stage6.DefaultLayout.Key(names[0]))
	p.waitForRenewal(t, 2*4) // longer than the lease
	p.requireNothingLost(t)
	for _, hold := range holds {
		require.NoError(t, hold.Unlock())
	}
}

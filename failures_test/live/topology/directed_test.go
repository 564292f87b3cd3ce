package topology_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The rooms that wait move with the lock, and each has to follow with its own
// subscription.
func TestDirectedWaitersFollowASlotThatMoves(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	opts := []stage6.Option{stage6.WithShardedPubSub(), stage6.WithDirectedWakeups()}
	a, b, d := join(t, c.client(t), long, opts...), join(t, c.client(t), long, opts...), join(t, c.client(t), long, opts...)
	hold := a.lock(t)
	doneB := b.wait(t)
	c.owner(t, key).waitForRooms(t, 1)
	c.owner(t, key).waitForRefusals(t)
	m := c.begin(t, key)
	for _, k := range m.from.keys(t) {
		m.carry(t, k)
	}
	m.end(t)
	m.to.waitForRooms(t, 1)
	doneD := d.wait(t)
	m.to.waitForRooms(t, 2)
	require.NoError(t, hold.Unlock())
	holdB := served(t, soon, doneB)
	require.NoError(t, holdB.Unlock())
	holdD := served(t, soon, doneD)
	require.Greater(t, holdD.Token(), holdB.Token())
	require.NoError(t, holdD.Unlock())
}

// waitForRooms waits until that many processes listen there, each on a channel of
// its own.
func (n *node) waitForRooms(t *testing.T, count int) {
	t.Helper()
	eventually(t, "a room that listens", func() error {
		rooms, err := n.rdb.PubSubShardChannels(t.Context(), channel+":*").Result()
		if err != nil || len(rooms) != count {
			return fmt.Errorf("%d of %d listen, %w", len(rooms), count, err)
		}
		return nil
	})
}

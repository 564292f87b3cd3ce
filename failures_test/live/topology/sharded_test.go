package topology_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// waitForShardSubscribers waits until that many connections listen on the lock's
// channel there, which only that node's own messages reach.
func (n *node) waitForShardSubscribers(t *testing.T, count int64) {
	t.Helper()
	eventually(t, "a sharded subscription", func() error {
		got, err := n.rdb.PubSubShardNumSub(t.Context(), channel).Result()
		if err != nil || got[channel] != count {
			return fmt.Errorf("%d of %d subscribed, %w", got[channel], count, err)
		}
		return nil
	})
}

// travelled is how many messages the nodes have passed to each other.
func (c *cluster) travelled(t *testing.T) int {
	t.Helper()
	sum := 0
	for _, n := range c.nodes {
		info := n.do(t, "CLUSTER", "INFO").(string)
		for _, kind := range []string{"publish", "publishshard"} {
			if sent := fieldOf(info, "cluster_stats_messages_"+kind+"_sent"); sent != "" { // it is left out while it is 0
				count, err := strconv.Atoi(sent)
				require.NoError(t, err)
				sum += count
			}
		}
	}
	return sum
}

// A message in the ordinary way goes to every node of the Cluster: that is what
// sharded pub/sub spares.
func TestShardedWakeUpReachesItsWaiterAndNoOtherNode(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		opts   []stage6.Option
		copies int // of each message, on its way to the other two nodes
	}{
		"ordinary": {nil, 2},
		"sharded":  {[]stage6.Option{stage6.WithShardedPubSub()}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			const handovers = 5
			c := startCluster(t)
			a, b := join(t, c.client(t), long, way.opts...), join(t, c.client(t), long, way.opts...)
			owner := c.owner(t, channel)
			for range handovers {
				hold := a.lock(t)
				done := b.wait(t)
				if way.opts == nil {
					owner.waitForSubscribers(t, 1)
				} else {
					owner.waitForShardSubscribers(t, 1)
				}
				require.NoError(t, hold.Unlock())
				require.NoError(t, served(t, soon, done).Unlock())
				owner.waitForSubscribers(t, 0)
				owner.waitForShardSubscribers(t, 0)
			}
			require.Equal(t, 2*handovers*way.copies, c.travelled(t), "each hand-over was two unlocks")
		})
	}
}

// Redis ends a sharded subscription when the slot has gone. Who waits has to find
// the new node, and look whether he has missed a message.
func TestShardedWaiterFollowsASlotThatMoves(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	sharded := stage6.WithShardedPubSub()
	a, b := join(t, c.client(t), long, sharded), join(t, c.client(t), long, sharded)
	hold := a.lock(t)
	done := b.wait(t)
	c.owner(t, key).waitForShardSubscribers(t, 1)
	c.owner(t, key).waitForRefusals(t)
	m := c.begin(t, key)
	m.carry(t, key)
	m.carry(t, tokenKey)
	m.end(t)
	m.to.waitForShardSubscribers(t, 1)
	require.NoError(t, hold.Unlock())
	next := served(t, soon, done)
	require.Greater(t, next.Token(), hold.Token())
	require.NoError(t, next.Unlock())
}

// An unlock at the new node, while who waits still listens at the old one, is heard
// by nobody. He is told by the end of his subscription.
func TestShardedWaiterLearnsOfAnUnlockHalfWayThroughAMove(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	sharded := stage6.WithShardedPubSub()
	a, b := join(t, c.client(t), long, sharded), join(t, c.client(t), long, sharded)
	hold := a.lock(t)
	done := b.wait(t)
	c.owner(t, key).waitForShardSubscribers(t, 1)
	c.owner(t, key).waitForRefusals(t)
	m := c.begin(t, key)
	m.carry(t, key)
	require.NoError(t, hold.Unlock(), "it runs at the new node, which may not publish for the slot unless asked")
	m.carry(t, tokenKey)
	m.end(t)
	next := served(t, soon, done)
	require.Greater(t, next.Token(), hold.Token())
	require.NoError(t, next.Unlock())
}

func TestShardedPubSubIsRefusedWithoutACluster(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer rdb.Close()
	_, err := stage6.NewService(rdb, stage6.WithShardedPubSub())
	require.ErrorContains(t, err, "sharded pub/sub is for a Cluster")
	require.ErrorContains(t, err, "leave WithShardedPubSub out")
}

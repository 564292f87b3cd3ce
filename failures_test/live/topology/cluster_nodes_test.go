//go:build live

package topology_test

import (
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
)

// node is one server of a Cluster.
type node struct {
	*server
	id string
}

// cluster is three masters without replicas that share the slots.
type cluster struct{ nodes []*node }

// slotRanges are the slots of each node at first.
var slotRanges = [][2]int{{0, 5460}, {5461, 10922}, {10923, 16383}}

// startCluster starts a Cluster in which everybody knows everybody.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	var buses []int
	for i, slots := range slotRanges {
		bus, err := redisserver.FreePort() // by default it would be the port plus 10,000, which there may not be
		require.NoError(t, err)
		s := startServer(t, "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "1000",
			"--cluster-announce-ip", "127.0.0.1", "--cluster-port", strconv.Itoa(bus))
		s.do(t, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		s.do(t, "CLUSTER", "ADDSLOTSRANGE", slots[0], slots[1])
		c.nodes, buses = append(c.nodes, &node{s, s.do(t, "CLUSTER", "MYID").(string)}), append(buses, bus)
	}
	for i, n := range c.nodes[1:] {
		host, port, err := net.SplitHostPort(n.Addr())
		require.NoError(t, err)
		c.nodes[0].do(t, "CLUSTER", "MEET", host, port, buses[i+1])
	}
	c.waitUntilWhole(t)
	return c
}

// waitUntilWhole waits until every node sees all slots served.
func (c *cluster) waitUntilWhole(t *testing.T) {
	t.Helper()
	for _, n := range c.nodes {
		eventually(t, "a whole Cluster", func() error {
			info, err := n.rdb.ClusterInfo(t.Context()).Result()
			if err != nil {
				return err
			}
			if fieldOf(info, "cluster_state") != "ok" || fieldOf(info, "cluster_slots_ok") != "16384" || fieldOf(info, "cluster_known_nodes") != "3" {
				return fmt.Errorf("node %s says %s", n.id, info)
			}
			return nil
		})
	}
}

func (c *cluster) client(t *testing.T) *redis.ClusterClient {
	t.Helper()
	options := &redis.ClusterOptions{ContextTimeoutEnabled: true}
	for _, n := range c.nodes {
		options.Addrs = append(options.Addrs, n.Addr())
	}
	rdb := redis.NewClusterClient(options)
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

// slotOf is the slot of a key, as the Cluster counts.
func (c *cluster) slotOf(t *testing.T, key string) int {
	t.Helper()
	return int(c.nodes[0].do(t, "CLUSTER", "KEYSLOT", key).(int64))
}

// owner is the node that had the slot of a key at first.
func (c *cluster) owner(t *testing.T, key string) *node {
	t.Helper()
	slot := c.slotOf(t, key)
	for i, slots := range slotRanges {
		if slots[0] <= slot && slot <= slots[1] {
			return c.nodes[i]
		}
	}
	require.Fail(t, "no such slot", slot)
	return nil
}

// move is the way of one slot from its node to another, step by step.
type move struct {
	c        *cluster
	slot     int
	from, to *node
}

// begin makes the slot of a key migrate: from now on what is in it may be on either
// node.
func (c *cluster) begin(t *testing.T, key string) *move {
	t.Helper()
	m := &move{c: c, slot: c.slotOf(t, key), from: c.owner(t, key)}
	for _, n := range c.nodes {
		if n != m.from {
			m.to = n
		}
	}
	m.to.do(t, "CLUSTER", "SETSLOT", m.slot, "IMPORTING", m.from.id)
	m.from.do(t, "CLUSTER", "SETSLOT", m.slot, "MIGRATING", m.to.id)
	return m
}

// carry takes one key to the other node.
func (m *move) carry(t *testing.T, key string) {
	t.Helper()
	host, port, err := net.SplitHostPort(m.to.Addr())
	require.NoError(t, err)
	require.Equal(t, "OK", m.from.do(t, "MIGRATE", host, port, key, 0, within.Milliseconds()))
}

// end gives the slot to the other node. No key may be left at the first.
func (m *move) end(t *testing.T) {
	t.Helper()
	for _, n := range []*node{m.to, m.from} { // in this order nobody is without an owner
		n.do(t, "CLUSTER", "SETSLOT", m.slot, "NODE", m.to.id)
	}
	for _, n := range m.c.nodes {
		if n != m.to && n != m.from {
			n.do(t, "CLUSTER", "SETSLOT", m.slot, "NODE", m.to.id)
		}
	}
}

// keys are what that node has in the slot of the lock, whatever it says to clients of the Cluster.
func (n *node) keys(t *testing.T) []string {
	t.Helper()
	var keys []string
	for _, k := range n.do(t, "CLUSTER", "GETKEYSINSLOT", n.do(t, "CLUSTER", "KEYSLOT", key), 100).([]any) {
		keys = append(keys, k.(string))
	}
	return keys
}

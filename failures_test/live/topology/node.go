package topology

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

// within is how long anything may take that is to happen; nothing is expected to
// need that much.
const within = 30 * time.Second

// Node is one redis-server, and a client that talks to it alone.
type Node struct {
	*redisserver.Server
	Rdb *redis.Client

	t    testing.TB
	id   string // in a Cluster, as the next
	last int    // of its slots, at first
}

// Start starts a server that ends with the test. Where no redis-server is installed the
// test is skipped, but with CI=true it fails.
func Start(t testing.TB, config redisserver.Config) *Node {
	t.Helper()
	config.Port = redisserver.AnyPort
	n := &Node{t: t, Server: redisserver.ForTest(t, config)}
	n.Rdb = redisserver.NewClient(n.Socket())
	t.Cleanup(func() { require.NoError(t, n.Rdb.Close()) })
	return n
}

// do sends a command to this server.
func (n *Node) do(command ...any) any {
	n.t.Helper()
	answer, err := n.Rdb.Do(n.t.Context(), command...).Result()
	require.NoError(n.t, err, "%v", command)
	return answer
}

// hostPort is where the server answers, as Redis's commands want it.
func (n *Node) hostPort() (host, port string) {
	host, port, _ = net.SplitHostPort(n.Addr()) // it has been joined of the two
	return host, port
}

// Count is the sum of the numbers that follow these words in what INFO says, such as
// "cmdstat_get:calls="; 0 for one that is not there.
func (n *Node) Count(words ...string) (sum int) {
	n.t.Helper()
	info := n.do("INFO", "everything").(string)
	for _, word := range words {
		var count int
		_, after, _ := strings.Cut(info, word)
		_, _ = fmt.Sscan(after, &count)
		sum += count
	}
	return sum
}

// waitFor waits until INFO and CLUSTER INFO have those lines.
func (n *Node) waitFor(lines ...string) {
	n.t.Helper()
	eventually(n.t, strings.Join(lines, ", "), func() (any, bool) {
		info := n.Rdb.Info(n.t.Context()).Val() + n.Rdb.ClusterInfo(n.t.Context()).Val()
		return info, !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(info, line+"\r\n") })
	})
}

// eventually asks again and again until it is so. What was seen last says why not.
func eventually(t testing.TB, what string, ask func() (seen any, ok bool)) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		seen, ok := ask()
		if ok {
			return
		}
		require.True(t, time.Now().Before(end), "%s: it does not happen, but %v", what, seen)
	}
}

// Cluster is a Redis Cluster of masters without replicas.
type Cluster struct{ Nodes []*Node }

// slots is how many a Cluster has.
const slots = 16384

// StartCluster starts a Cluster that ends with the test: so many nodes, which share
// the slots and know each other.
func StartCluster(t testing.TB, nodes int) *Cluster {
	t.Helper()
	c := &Cluster{}
	for i := range nodes {
		n := Start(t, redisserver.Config{Args: []string{
			"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-announce-ip", "127.0.0.1",
		}})
		n.id = n.do("CLUSTER", "MYID").(string)
		n.do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
		n.last = slots*(i+1)/nodes - 1
		n.do("CLUSTER", "ADDSLOTSRANGE", slots*i/nodes, n.last)
		if i > 0 {
			host, port := c.Nodes[0].hostPort()
			n.do("CLUSTER", "MEET", host, port)
		}
		c.Nodes = append(c.Nodes, n)
	}
	c.waitUntilWhole()
	return c
}

// waitUntilWhole waits until every node knows every other, and sees all slots served.
func (c *Cluster) waitUntilWhole() {
	for _, n := range c.Nodes {
		n.waitFor("cluster_state:ok", fmt.Sprint("cluster_slots_ok:", slots),
			fmt.Sprint("cluster_known_nodes:", len(c.Nodes)))
	}
}

// Client is a client of the Cluster.
func (c *Cluster) Client() *redis.ClusterClient {
	options := &redis.ClusterOptions{ContextTimeoutEnabled: true}
	for _, n := range c.Nodes {
		options.Addrs = append(options.Addrs, n.Addr())
	}
	return redis.NewClusterClient(options)
}

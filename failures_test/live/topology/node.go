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

	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
)

// within is the timeout of everything that a test waits for. Nothing should need that long.
const within = 30 * time.Second

// Node is a redis-server and a client of this server only.
type Node struct {
	*redisserver.Server
	Rdb *redis.Client

	t    testing.TB
	id   string // in a Cluster
	last int    // its last slot at first, in a Cluster
}

// Start starts a server that ends with the test. If redis-server is not installed, the test is
// skipped; with CI=true it fails.
func Start(t testing.TB, config redisserver.Config) *Node {
	t.Helper()
	config.Port = redisserver.AnyPort
	n := &Node{t: t, Server: redisserver.ForTest(t, config)}
	n.Rdb = realredis.NewClient(n.Socket())
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

// hostPort returns the address of the server in two parts, for Redis commands.
func (n *Node) hostPort() (host, port string) {
	host, port, _ = net.SplitHostPort(n.Addr()) // Addr has joined them
	return host, port
}

// Count returns the sum of the numbers after these words in INFO, such as "cmdstat_get:calls="; a
// missing word counts as 0.
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

// eventually repeats ask until it returns true. A failure prints the last value of seen.
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

// slots is the number of slots of a Cluster.
const slots = 16384

// StartCluster starts a Cluster with that many masters, which share the slots. It ends with the
// test.
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

// waitUntilWhole waits until every node knows all others and all slots are served.
func (c *Cluster) waitUntilWhole() {
	for _, n := range c.Nodes {
		n.waitFor("cluster_state:ok", fmt.Sprint("cluster_slots_ok:", slots),
			fmt.Sprint("cluster_known_nodes:", len(c.Nodes)))
	}
}

// Client returns a client of the Cluster.
func (c *Cluster) Client() *redis.ClusterClient {
	options := &redis.ClusterOptions{ContextTimeoutEnabled: true}
	for _, n := range c.Nodes {
		options.Addrs = append(options.Addrs, n.Addr())
	}
	return redis.NewClusterClient(options)
}

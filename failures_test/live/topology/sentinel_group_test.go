//go:build live

package topology_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
)

const (
	masterName = "orders" // what the Sentinels call the master
	downAfter  = 500 * time.Millisecond
)

// group is a master, two replicas, and three Sentinels that watch them.
type group struct {
	servers   []*server // the first one is the first master
	sentinels []*server
}

// startGroup starts a group in which everybody knows everybody.
func startGroup(t *testing.T) *group {
	t.Helper()
	g := &group{}
	for range 3 {
		g.servers = append(g.servers, startServer(t, replicaArgs...))
	}
	for _, replica := range g.servers[1:] {
		replica.replicate(t, g.servers[0])
	}
	for range 3 {
		g.sentinels = append(g.sentinels, startSentinel(t, g.servers[0]))
	}
	for _, s := range g.sentinels {
		eventually(t, "a Sentinel that knows all others", func() error { return s.knowsAll(t.Context()) })
	}
	return g
}

// startSentinel starts one that looks more often than Sentinels do, so that a
// failover takes no longer than it must, and that trusts its clock on a busy
// machine.
func startSentinel(t *testing.T, master *server) *server {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
		"sentinel monitor %[1]s %[2]s %[3]s 2\nsentinel down-after-milliseconds %[1]s %[4]d\nsentinel failover-timeout %[1]s 3000\n",
		masterName, host, port, downAfter.Milliseconds()), 0o600))
	s := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort, File: file, Args: []string{"--sentinel"}})
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket()})
	t.Cleanup(func() { _ = rdb.Close() }) // nothing is to be saved
	sentinel := &server{s, rdb}
	sentinel.do(t, "SENTINEL", "DEBUG", "info-period", 400, "ask-period", 100, "publish-period", 200,
		"ping-period", 400, // a replica not heard of for five of these is no candidate, and its INFO comes once a second
		"tilt-trigger", 20_000, "tilt-period", 1000)
	return sentinel
}

// knowsAll is an error if a Sentinel does not know its group yet.
func (s *server) knowsAll(ctx context.Context) error {
	known, err := s.rdb.Do(ctx, "SENTINEL", "MASTER", masterName).Result()
	if err != nil {
		return err
	}
	fields := known.(map[any]any)
	if fields["num-slaves"] != "2" || fields["num-other-sentinels"] != "2" || fields["flags"] != "master" {
		return fmt.Errorf("it knows %v replicas, %v others, of a %v", fields["num-slaves"], fields["num-other-sentinels"], fields["flags"])
	}
	return nil
}

// patience sets for how long the Sentinels let a master be silent.
func (g *group) patience(t *testing.T, d time.Duration) {
	t.Helper()
	for _, s := range g.sentinels {
		s.do(t, "SENTINEL", "SET", masterName, "down-after-milliseconds", d.Milliseconds())
	}
}

// client finds the master through the Sentinels.
func (g *group) client(t *testing.T) *redis.Client {
	t.Helper()
	var addrs []string
	for _, s := range g.sentinels {
		addrs = append(addrs, s.Addr())
	}
	rdb := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: masterName, SentinelAddrs: addrs, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

// promoted waits until another server than the first is the master, for all
// Sentinels.
func (g *group) promoted(t *testing.T) *server {
	t.Helper()
	var master *server
	eventually(t, "a failover", func() error {
		found := map[string]bool{}
		for _, s := range g.sentinels {
			addr, err := s.rdb.Do(t.Context(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName).StringSlice()
			if err != nil {
				return err
			}
			found[net.JoinHostPort(addr[0], addr[1])] = true
		}
		for _, s := range g.servers[1:] {
			if len(found) == 1 && found[s.Addr()] {
				master = s
				return nil
			}
		}
		return fmt.Errorf("the Sentinels say %v", found)
	})
	master.waitForField(t, "replication", "role", "master")
	return master
}

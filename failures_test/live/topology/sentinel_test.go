//go:build live

package topology

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

const masterName = "orders" // the master's name for the Sentinels

// group is a master, two replicas, and three Sentinels that watch them.
type group struct {
	master    *Node // the first one
	replicas  []*Node
	sentinels []*Node
}

// startGroup starts a group and waits until all its members know each other.
func startGroup(t *testing.T) *group {
	// Replicas sync without waiting for other replicas.
	server := redisserver.Config{Args: []string{
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db",
		"--repl-ping-replica-period", "1",
	}}
	g := &group{master: Start(t, server)}
	host, port := g.master.hostPort()
	for range 2 {
		n := Start(t, server)
		n.do("REPLICAOF", host, port)
		n.waitFor("master_link_status:up")
		g.replicas = append(g.replicas, n)
	}
	for range 3 {
		g.sentinels = append(g.sentinels, startSentinel(t, g.master))
	}
	for _, s := range g.sentinels {
		eventually(t, "a Sentinel that knows all others", func() (any, bool) {
			known := s.do("SENTINEL", "MASTER", masterName).(map[any]any)
			return known, known["num-slaves"] == "2" && known["num-other-sentinels"] == "2" && known["flags"] == "master"
		})
	}
	return g
}

// startSentinel starts a Sentinel with shorter periods, so that a failover is fast, and with
// tolerance for a busy machine's clock. It never considers a silent master dead, because a busy one
// may not answer for a second.
func startSentinel(t *testing.T, master *Node) *Node {
	host, port := master.hostPort()
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
		"sentinel monitor %[1]s %[2]s %[3]s 2\nsentinel down-after-milliseconds %[1]s %[4]d\nsentinel failover-timeout %[1]s 3000\n",
		masterName, host, port, time.Hour.Milliseconds()), 0o600))
	s := Start(t, redisserver.Config{File: file, Args: []string{"--sentinel"}})
	s.do("SENTINEL", "DEBUG", "info-period", 400, "ask-period", 100,
		"publish-period", 1000, // a Sentinel that learns of the new master four periods too late makes it a replica of the old one
		"ping-period", 400, // a replica without INFO for five periods is no candidate, and INFO comes once a second
		"tilt-trigger", 20_000, "tilt-period", 1000)
	return s
}

// replicated waits until the replicas have all writes of the master.
func (g *group) replicated() {
	require.EqualValues(g.master.t, 2, g.master.do("WAIT", 2, within.Milliseconds()))
}

// patience sets the time after which the Sentinels consider a silent master dead.
func (g *group) patience(d time.Duration) {
	for _, s := range g.sentinels {
		s.do("SENTINEL", "SET", masterName, "down-after-milliseconds", d.Milliseconds())
	}
}

// failOver lets the Sentinels replace their dead master and returns the new one. They do not
// promote a replica that lost its master more than ten times their patience ago, so with a short
// patience a busy machine may have no candidate left.
func (g *group) failOver() (master *Node) {
	g.patience(2 * time.Second)
	defer g.patience(time.Hour) // no failover of the new master
	return g.promoted()
}

// client returns a client that finds the master through the Sentinels.
func (g *group) client() *redis.Client {
	options := &redis.FailoverOptions{MasterName: masterName, ContextTimeoutEnabled: true}
	for _, s := range g.sentinels {
		options.SentinelAddrs = append(options.SentinelAddrs, s.Addr())
	}
	return redis.NewFailoverClient(options)
}

// promoted waits until the Sentinels have promoted a replica, and returns it.
func (g *group) promoted() (master *Node) {
	eventually(g.master.t, "a failover", func() (any, bool) {
		addr := g.sentinels[0].do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName).([]any)
		at := slices.IndexFunc(g.replicas, func(n *Node) bool { return n.Addr() == fmt.Sprintf("%s:%s", addr...) })
		if at < 0 {
			return addr, false
		}
		master = g.replicas[at]
		return addr, true
	})
	master.waitFor("role:master")
	return master
}

// unlocks re-enters and unlocks on the new master.
func (p *party) unlocks(hold *stage6.Hold) {
	p.t.Helper()
	require.NoError(p.t, p.takesAgain(hold.Context()).Unlock())
	require.NoError(p.t, hold.Unlock())
}

// The master dies after its replicas have the lock. One renewal fails, but the holder and the
// waiter do not notice.
func TestReplicatedHoldAndWaiterSurviveAFailover(t *testing.T) {
	t.Parallel()
	g := startGroup(t)
	a, b := join(t, g.client(), 30*time.Second), join(t, g.client(), long)
	hold, done := a.take(lockName), inBackground(b.Lock)
	g.master.waitForWaiters(1)
	g.replicated()

	g.master.Kill()
	eventually(t, "a renewal that fails", func() (any, bool) { return a.renewed.Load(), a.unanswered.Load() > 0 })
	g.failOver().waitForWaiters(1)
	a.unlocks(hold)

	next := served(t, soon, done) // woken by a message of the new master
	require.Greater(t, next.Token(), hold.Token())
	require.NoError(t, next.Unlock())
	requireNothingLost(a, b)
}

// A planned failover loses no writes.
func TestHolderAndWaiterSurviveAPlannedFailover(t *testing.T) {
	t.Parallel()
	g := startGroup(t)
	a, b := join(t, g.client(), long), join(t, g.client(), long)
	hold, done := a.take(lockName), inBackground(b.Lock)
	g.master.waitForWaiters(1)
	g.replicated()

	eventually(t, "a failover on demand", func() (any, bool) {
		err := g.sentinels[0].Rdb.Do(t.Context(), "SENTINEL", "FAILOVER", masterName).Err()
		return err, err == nil
	})
	next := g.promoted()
	g.master.waitFor("role:slave")
	next.waitForWaiters(1)
	a.unlocks(hold)
	holdB := served(t, soon, done)
	require.Greater(t, holdB.Token(), hold.Token())
	require.NoError(t, holdB.Unlock())
	requireNothingLost(a, b)
}

// go-redis sends commands to the new master, but its subscription stays on the old one until Sentinel makes that
// one a replica, some seconds later. In between no message arrives, and there is no error.
func TestSubscriptionStaysOnTheOldMasterForSeconds(t *testing.T) {
	t.Parallel()
	g := startGroup(t)
	rdb := g.client()
	defer rdb.Close()
	sub := rdb.Subscribe(t.Context(), channel)
	defer sub.Close()
	_, err := sub.Receive(t.Context())
	require.NoError(t, err)
	eventually(t, "a failover on demand", func() (any, bool) {
		err := g.sentinels[0].Rdb.Do(t.Context(), "SENTINEL", "FAILOVER", masterName).Err()
		return err, err == nil
	})
	next := g.promoted()
	eventually(t, "a command on the new master", func() (any, bool) {
		err := rdb.Set(t.Context(), "k", "v", 0).Err()
		return err, next.Rdb.Exists(t.Context(), "k").Val() == 1
	})
	reached, err := rdb.Publish(t.Context(), channel, "m").Result()
	require.NoError(t, err)
	require.Zero(t, reached)
	g.master.waitForWaiters(1)
	g.master.waitFor("role:slave")
	_, err = sub.Receive(t.Context())
	require.ErrorIs(t, err, io.EOF)
	_, err = sub.Receive(t.Context())
	require.NoError(t, err)
	next.waitForWaiters(1)
}

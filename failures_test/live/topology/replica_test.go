//go:build live

package topology_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// replicaArgs make a replica that need not wait for others that might want the
// same data.
var replicaArgs = []string{
	"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db", "--repl-ping-replica-period", "1",
}

// replicate makes s a replica of master, and waits until it is in sync.
func (s *server) replicate(t *testing.T, master *server) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr())
	require.NoError(t, err)
	s.do(t, "REPLICAOF", host, port)
	s.waitForField(t, "replication", "master_link_status", "up")
}

// cut takes a replica's way to its master from it: it stays a replica, and hears
// nothing more. A password that the master does not know keeps it from coming back.
func (s *server) cut(t *testing.T, master *server) {
	t.Helper()
	s.do(t, "CONFIG", "SET", "masterauth", "unknown")
	master.do(t, "CLIENT", "KILL", "TYPE", "replica")
	s.waitForField(t, "replication", "master_link_status", "down")
}

// front is a name that leads to the present master, as DNS or a proxy would.
type front struct{ master atomic.Pointer[server] }

func (f *front) client(t *testing.T) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{
		ContextTimeoutEnabled: true,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", f.master.Load().Addr())
		},
	})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

// The two-holders story: no lock on asynchronous replication can keep it from
// happening. What protects the resource is the token, and a plain counter is none.
func TestReplicaPromotedWithoutTheLockMakesTwoHoldersAndTheLedgerRefusesTheStaleOne(t *testing.T) {
	t.Parallel()
	old, next := startServer(t, replicaArgs...), startServer(t, replicaArgs...)
	next.replicate(t, old)
	var f front
	f.master.Store(old)
	a, b := join(t, f.client(t), 6*time.Second), join(t, f.client(t), 6*time.Second)

	earlier := a.lock(t) // both servers know a token and a counter
	require.NoError(t, earlier.Unlock())
	old.do(t, "SET", "counter", 41)
	require.EqualValues(t, 1, old.do(t, "WAIT", 1, within.Milliseconds()))
	require.Equal(t, "41", next.do(t, "GET", "counter"))

	next.cut(t, old)
	holdA := a.lock(t)
	counterA := old.do(t, "INCR", "counter")
	next.do(t, "REPLICAOF", "NO", "ONE")
	require.EqualValues(t, 0, next.do(t, "EXISTS", key), "the promoted replica knows nothing of A's hold")
	f.master.Store(next)
	holdB := b.lock(t) // its first connection leads to the new master
	counterB := next.do(t, "INCR", "counter")

	require.NoError(t, holdA.Context().Err(), "two holders: A does not know yet")
	require.NoError(t, holdB.Context().Err())
	require.Equal(t, counterA, counterB, "a plain counter gives both the same number")
	require.Greater(t, holdB.Token(), holdA.Token())

	var orders, byCounter ledger
	require.True(t, byCounter.write("A", counterA.(int64)), "nobody was here before")
	require.False(t, byCounter.write("B", counterB.(int64)), "by counter the stale holder shuts out the rightful one")
	require.True(t, orders.write("A", holdA.Token()))
	require.True(t, orders.write("B", holdB.Token()))
	require.False(t, orders.write("A", holdA.Token()), "the stale holder is refused")

	old.Kill() // what A still talks to
	a.requireToldByRedis(t, holdA)
	require.NoError(t, holdB.Context().Err())
	require.NoError(t, holdB.Unlock())
}

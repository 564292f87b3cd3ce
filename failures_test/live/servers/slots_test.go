//go:build servers

package servers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/topology"
)

// All keys of these tests have the tag {k}.
const both = "EVAL return'ran' 2 {k}lock {k}token"

// asking sends a command after ASKING, on one connection.
func asking(t *testing.T, rdb *redis.Client, command string) any {
	t.Helper()
	conn := rdb.Conn()
	defer conn.Close()
	require.Equal(t, "OK", ask(t, conn, "ASKING"))
	return ask(t, conn, command)
}

// migrating returns clients of the two nodes of a Cluster between which the slot of {k} moves, and their version.
func migrating(t *testing.T) (from, to *redis.Client, version string) {
	t.Helper()
	probe := start(t)
	if probe.is(redis62) {
		t.Skip("the Cluster of the tests needs ADDSLOTSRANGE, of Redis 7.0")
	}
	c := topology.StartCluster(t, 2)
	var clients []*redis.Client
	for _, n := range c.Nodes {
		rdb := realredis.NewClient(n.Socket(), func(o *redis.Options) { o.MaxRetries = -1 }) // else TRYAGAIN is sent again, without ASKING
		t.Cleanup(func() { _ = rdb.Close() })
		clients = append(clients, rdb)
	}
	from, to = clients[0], clients[1]
	if ask(t, from, "EXISTS {k}") != int64(0) {
		from, to = to, from
	}
	return from, to, probe.version
}

// A slot moves key by key. A script has two keys, as one that takes a lock and counts its token.
func TestScriptsWhileASlotMoves(t *testing.T) {
	t.Parallel()
	from, to, _ := migrating(t)
	slot := ask(t, from, "CLUSTER KEYSLOT {k}")
	require.Equal(t, "OK", ask(t, to, "CLUSTER SETSLOT", slot, "IMPORTING", ask(t, from, "CLUSTER MYID")))
	require.Equal(t, "OK", ask(t, from, "CLUSTER SETSLOT", slot, "MIGRATING", ask(t, to, "CLUSTER MYID")))
	for _, c := range []struct {
		name                 string
		here, there          string // keys on either node
		source, target       string // the script, target after ASKING
		oneSource, oneTarget string // GET {k}lock
	}{
		{"both on the source", "lock token", "", "ran", "TRYAGAIN", "here", "<nil>"},
		{"no lock, the token on the source", "token", "", "TRYAGAIN", "TRYAGAIN", "ASK", "<nil>"},
		{"neither exists", "", "", "ASK", "TRYAGAIN", "ASK", "<nil>"},
		{"no lock, the token on the target", "", "token", "ASK", "TRYAGAIN", "ASK", "<nil>"},
		{"only the lock has moved", "token", "lock", "TRYAGAIN", "TRYAGAIN", "ASK", "there"},
		{"both on the target", "", "lock token", "ASK", "ran", "ASK", "there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, from.FlushAll(t.Context()).Err())
			require.NoError(t, to.FlushAll(t.Context()).Err())
			for _, key := range strings.Fields(c.here) {
				put(t, from, to, slot, key)
			}
			for _, key := range strings.Fields(c.there) {
				require.Equal(t, "OK", asking(t, to, "SET {k}"+key+" there"))
			}
			requireReply(t, c.source, ask(t, from, both), "source")
			requireReply(t, "MOVED", ask(t, to, both), "target without ASKING")
			requireReply(t, c.target, asking(t, to, both), "target")
			requireReply(t, c.oneSource, fmt.Sprint(ask(t, from, "GET {k}lock")), "one key, source")
			requireReply(t, c.oneTarget, fmt.Sprint(asking(t, to, "GET {k}lock")), "one key, target")
		})
	}
}

// put writes a key on the source.
func put(t *testing.T, from, to *redis.Client, slot any, key string) {
	t.Helper()
	require.Equal(t, "OK", ask(t, from, "CLUSTER SETSLOT", slot, "STABLE"))
	require.Equal(t, "OK", ask(t, from, "SET {k}"+key+" here"))
	require.Equal(t, "OK", ask(t, from, "CLUSTER SETSLOT", slot, "MIGRATING", ask(t, to, "CLUSTER MYID")))
}

// A slot moves at once, with its keys.
func TestSlotMovedAtomically(t *testing.T) {
	t.Parallel()
	from, to, version := migrating(t)
	slot := ask(t, from, "CLUSTER KEYSLOT {k}")
	id := ask(t, to, "CLUSTER MYID")
	switch version {
	case redis70, redis82:
		requireReply(t, "ERR unknown subcommand", ask(t, from, "CLUSTER MIGRATESLOTS SLOTSRANGE", slot, slot, "NODE", id), "MIGRATESLOTS")
		requireReply(t, "ERR unknown subcommand", ask(t, to, "CLUSTER MIGRATION IMPORT", slot, slot), "MIGRATION")
		return
	}
	plain, sharded := from.Subscribe(t.Context(), "{k}"), from.SSubscribe(t.Context(), "{k}")
	for _, sub := range []*redis.PubSub{plain, sharded} {
		t.Cleanup(func() { _ = sub.Close() })
		_, err := sub.Receive(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, "OK", ask(t, from, "SET {k}lock here"))
	if version == valkey91 {
		require.Equal(t, "OK", ask(t, from, "CLUSTER MIGRATESLOTS SLOTSRANGE", slot, slot, "NODE", id))
	} else {
		require.NotContains(t, ask(t, to, "CLUSTER MIGRATION IMPORT", slot, slot), "ERR")
	}
	eventually(t, "MOVED", func() bool {
		reply := ask(t, from, both).(string)
		if reply == "ran" {
			return false
		}
		require.True(t, strings.HasPrefix(reply, "MOVED"), reply)
		return true
	})
	require.Equal(t, "ran", ask(t, to, both))
	require.Equal(t, "here", ask(t, to, "GET {k}lock"))

	message, err := sharded.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, "sunsubscribe", message.(*redis.Subscription).Kind)
	require.EqualValues(t, 0, ask(t, to, "PUBLISH {k} m"), "subscribers on this node")
	heard, err := plain.ReceiveMessage(t.Context())
	require.NoError(t, err)
	require.Equal(t, "m", heard.Payload)
}

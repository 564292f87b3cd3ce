//go:build servers

package servers

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// The same commands to miniredis and to the server.
func TestMiniredisDiffers(t *testing.T) {
	t.Parallel()
	s, fake := start(t), miniredis.RunT(t)
	mini := redis.NewClient(&redis.Options{Addr: fake.Addr(), DisableIdentity: true})
	t.Cleanup(func() { _ = mini.Close() })

	for _, c := range []struct {
		name        string
		set, ask    string
		mini, redis any
	}{
		{"IFEQ", "SET k v", "SET k v IFEQ v", "ERR syntax error", ifEqual(s)},
		{"DELEX", "SET k v", "DELEX k IFEQ v", 1, delex(s)},
		{"PEXPIRE of a huge lease", "SET k v", "PEXPIRE k 9223372036854775807", 1, "ERR invalid expire time"},
		{"NX and XX", "DEL k", "SET k v NX XX", nil, "ERR syntax error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask(t, mini, c.set)
			requireReply(t, c.mini, ask(t, mini, c.ask), "miniredis: "+c.ask)
			s.ask(t, c.set)
			requireReply(t, c.redis, s.ask(t, c.ask), c.ask)
		})
	}
	t.Run("DELIFEQ", func(t *testing.T) { requireReply(t, "ERR unknown command", ask(t, mini, "DELIFEQ k v"), "DELIFEQ") })
	t.Run("PEXPIRE of a huge lease deletes", func(t *testing.T) {
		ask(t, mini, "SET huge v")
		ask(t, mini, "PEXPIRE huge 9223372036854775807")
		require.EqualValues(t, 0, ask(t, mini, "EXISTS huge"))
	})
	t.Run("a lease", func(t *testing.T) {
		require.Equal(t, "OK", ask(t, mini, "SET lease v PX 20"))
		s.play(t, step{"SET lease v PX 20", "OK"})
		eventually(t, "the end of the lease", func() bool { return s.ask(t, "EXISTS lease") == int64(0) })
		require.EqualValues(t, 1, ask(t, mini, "EXISTS lease"))
		fake.FastForward(20 * time.Millisecond)
		require.EqualValues(t, 0, ask(t, mini, "EXISTS lease"))
	})
	t.Run("an error in a script", func(t *testing.T) {
		const script = "return redis.call('GET', KEYS[1])"
		ask(t, mini, "HSET hash f v")
		s.ask(t, "HSET hash f v")
		requireReply(t, "ERR Error compiling script", ask(t, mini, "EVAL", script, 1, "hash"), script)
		requireReply(t, wrongType(s), s.eval(t, script, "hash"), script)
	})
	t.Run("numbers", func(t *testing.T) {
		require.Equal(t, "1000000000000000", ask(t, mini, "EVAL", "return tostring(1e15)", 0))
		require.Equal(t, "1e+15", s.eval(t, "return tostring(1e15)"))
	})
	t.Run("the hash in capitals", func(t *testing.T) {
		for rdb, want := range map[*redis.Client]any{mini: "NOSCRIPT", s.rdb: 7} {
			require.EqualValues(t, 7, ask(t, rdb, "EVAL", "return 7", 0))
			requireReply(t, want, ask(t, rdb, "EVALSHA 59B6AB2FBE0EE4B25733DE0F62E6CDA4899EF8E9 0"), "EVALSHA")
		}
	})
	t.Run("a connection that subscribes", func(t *testing.T) {
		for rdb, want := range map[*redis.Client]any{mini: "ERR Can't execute 'eval'", s.rdb: 7} {
			conn := rdb.Conn()
			defer conn.Close()
			ask(t, conn, "SUBSCRIBE c")
			requireReply(t, want, ask(t, conn, "EVAL", "return 7", 0), "EVAL")
		}
	})
}

func ifEqual(s *server) any {
	if s.is(redis86, valkey91) {
		return "OK"
	}
	return "ERR syntax error"
}

func delex(s *server) any {
	if s.is(redis86) {
		return 1
	}
	return "ERR unknown command"
}

func wrongType(s *server) string {
	if s.is(redis62) {
		return "ERR Error running script"
	}
	return "WRONGTYPE"
}

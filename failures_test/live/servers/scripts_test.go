//go:build servers

package servers

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	const busy = "for i = 1, 3e6 do end " // milliseconds
	t.Run("TIME", func(t *testing.T) {
		moved := s.eval(t, "local a = redis.call('TIME') "+busy+"local b = redis.call('TIME') return (b[1] - a[1]) * 1000000 + b[2] - a[2]")
		if s.is(redis62, redis70) {
			require.Greater(t, moved, int64(2000))
		} else {
			require.EqualValues(t, 0, moved)
		}
	})
	t.Run("a lease that ends while the script runs", func(t *testing.T) {
		require.EqualValues(t, 1, s.eval(t, "redis.call('SET', KEYS[1], 1, 'PX', 1) "+busy+"return redis.call('EXISTS', KEYS[1])", "k"))
		s.play(t, step{"EXISTS k", 0})
	})
	t.Run("a fraction", func(t *testing.T) {
		s.eval(t, "redis.call('SET', KEYS[1], 0.1)", "n")
		want := "0.1"
		if s.is(redis62, redis70) {
			want = "0.10000000000000001"
		}
		require.Equal(t, want, s.ask(t, "GET n"))
	})
	t.Run("a number of 16 digits", func(t *testing.T) {
		require.EqualValues(t, 1795874214368293, s.eval(t, "return 1795874214368293"))
		require.Equal(t, "1.7958742143683e+15", s.eval(t, "return '' .. 1795874214368293"))
		s.eval(t, "redis.call('SET', KEYS[1], 1795874214368293)", "n")
		require.Equal(t, "1795874214368293", s.ask(t, "GET n"))
	})
}

// WAIT and min-replicas-to-write, without a replica and with one that is stopped.
func TestReplicasAndScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("WAIT in a script", func(t *testing.T) {
		text := s.eval(t, "redis.call('SET', KEYS[1], 1) return redis.call('WAIT', 1, 60000)", "k")
		switch {
		case s.is(redis62):
			requireReply(t, "ERR Error running script", text, "WAIT")
			require.Contains(t, text, "This Redis command is not allowed from scripts")
		case s.is(redis70):
			requireReply(t, "ERR This Redis command is not allowed from script", text, "WAIT")
		default:
			require.EqualValues(t, 0, text)
		}
	})
	t.Run("WAIT on another connection", func(t *testing.T) {
		s, r := start(t, "--repl-diskless-sync-delay", "0"), start(t)
		_, port, err := net.SplitHostPort(s.Addr())
		require.NoError(t, err)
		requireReply(t, "OK", r.ask(t, "REPLICAOF 127.0.0.1", port), "REPLICAOF")
		eventually(t, "a replica", func() bool { return s.ask(t, "WAIT 1 100") == int64(1) })
		s.play(t, step{"SET before 1", "OK"}, step{"WAIT 1 10000", 1})
		require.NoError(t, r.Stop())
		t.Cleanup(func() { require.NoError(t, r.Continue()) })
		a, b := s.client(t).Conn(), s.client(t).Conn()
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		requireReply(t, "OK", ask(t, a, "SET lock me NX PX 60000"), "SET")
		require.EqualValues(t, 0, ask(t, a, "WAIT 1 50"))
		reached := 1
		if s.is(redis62, redis70) { // what was written before the last command of the connection counts, here a HELLO
			reached = 0
		}
		require.EqualValues(t, reached, ask(t, b, "WAIT 1 50"))
		pipe := a.TxPipeline()
		pipe.Set(t.Context(), "lock", "me", 0)
		waited := pipe.Do(t.Context(), "WAIT", 1, within.Milliseconds())
		_, err = pipe.Exec(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 0, waited.Val())
	})
	t.Run("min-replicas-to-write", func(t *testing.T) {
		s := start(t, "--min-replicas-to-write", "1")
		s.play(t, step{"SET k me", "NOREPLICAS"})
		text := s.eval(t, "return redis.call('SET', KEYS[1], 'me')", "k")
		if s.is(redis62) {
			requireReply(t, "OK", text, "SET in a script")
			return
		}
		requireReply(t, "NOREPLICAS", text, "SET in a script")
		s.play(t, step{"PEXPIRE k 60000", "NOREPLICAS"}, step{"DEL k", "NOREPLICAS"}, step{"PUBLISH c m", 0})
	})
}

// With RESP3 a connection that subscribes may run scripts, and gets its own messages.
func TestOrderOfPushAndReply(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", s.Socket())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(within)))
	_, err = conn.Write([]byte("HELLO 3\r\nSUBSCRIBE c\r\nEVAL \"redis.call('PUBLISH', 'c', 'm') return 'the reply'\" 0\r\n"))
	require.NoError(t, err)
	var seen string
	for buffer := make([]byte, 4096); !strings.Contains(seen, "the reply") || !strings.Contains(seen, "\r\nmessage\r\n"); {
		n, err := conn.Read(buffer)
		require.NoError(t, err, seen)
		seen += string(buffer[:n])
	}
	messageFirst := strings.Index(seen, "\r\nmessage\r\n") < strings.Index(seen, "the reply")
	require.Equal(t, s.is(redis62, redis70), messageFirst, seen)
}

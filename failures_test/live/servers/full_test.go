//go:build servers

package servers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that is full, with noeviction.
func TestFullServer(t *testing.T) {
	t.Parallel()
	s := start(t, "--maxmemory-policy", "noeviction")
	s.play(t, step{"SET k me PX 60000", "OK"}, step{"HSET h f 1", 1}, step{"CONFIG SET maxmemory 1", "OK"})

	oom := "OOM command not allowed when used memory > 'maxmemory'."
	inScript := oom
	if s.is(redis62) {
		inScript = "ERR Error running script"
	}
	t.Run("commands", func(t *testing.T) {
		s.play(t,
			step{"SET k me XX PX 60000", oom}, // a renewal, with the same value
			step{"SET none me NX", oom},
			step{"HINCRBY h f 1", oom},
			step{"SET k me XX KEEPTTL", oom},
			step{"PEXPIRE k 60000", 1},
			step{"PUBLISH c m", 0},
		)
		switch {
		case s.is(redis86):
			s.play(t, step{"SET k me IFEQ me PX 60000", oom}, step{"DELEX none IFEQ me", 0})
		case s.is(valkey91):
			s.play(t, step{"SET k me IFEQ me PX 60000", oom}, step{"DELIFEQ none me", 0})
		}
	})
	t.Run("scripts", func(t *testing.T) {
		require.EqualValues(t, 1, s.eval(t, "return redis.call('PEXPIRE', KEYS[1], 60000)", "k"))
		require.EqualValues(t, 0, s.eval(t, "return redis.call('DEL', KEYS[1])", "none"))
		requireReply(t, inScript, s.eval(t, "return redis.call('SET', KEYS[1], 1)", "none"), "SET")
		requireReply(t, inScript, s.eval(t, "redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], 1)", "none"), "SET after a read")
		requireReply(t, inScript, s.eval(t, "redis.call('PUBLISH', 'c', 'm') return redis.call('SET', KEYS[1], 1)", "none"), "SET after PUBLISH")
		require.Contains(t, s.eval(t, "return redis.call('SET', KEYS[1], 1)", "none"), oom)
	})
	t.Run("a script that has written", func(t *testing.T) {
		for _, write := range []string{"'PEXPIRE', KEYS[1], 60000", "'DEL', KEYS[2]"} { // KEYS[2] is missing
			requireReply(t, "OK", s.eval(t, "redis.call("+write+") return redis.call('SET', KEYS[2], 1)", "k", "new"), "SET after "+write)
			s.play(t, step{"DEL new", 1})
		}
	})
	t.Run("a script with #!lua", func(t *testing.T) {
		if s.is(redis62) {
			requireReply(t, "ERR Error compiling script", s.eval(t, "#!lua\nreturn 1"), "#!lua")
			return
		}
		requireReply(t, oom, s.eval(t, "#!lua\nreturn redis.call('PEXPIRE', KEYS[1], 60000)", "k"), "PEXPIRE")
		requireReply(t, oom, s.eval(t, "#!lua\nreturn redis.call('GET', KEYS[1])", "k"), "GET")
		requireReply(t, "me", s.eval(t, "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])", "k"), "GET")
		require.EqualValues(t, 1, s.eval(t, "#!lua flags=allow-oom\nreturn redis.call('PEXPIRE', KEYS[1], 60000)", "k"))
	})
}

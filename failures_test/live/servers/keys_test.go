//go:build servers

package servers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Leases of keys, and what is published of their end.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := start(t, "--notify-keyspace-events", "EA")
	t.Run("TTL", func(t *testing.T) {
		s.play(t, step{"SET k me PX 400", "OK"}, step{"TTL k", 0}, step{"SET k me PX 1400", "OK"}, step{"TTL k", 1})
	})
	t.Run("a lease that is over", func(t *testing.T) {
		s.play(t, step{"SET k me PX 0", "ERR invalid expire time"}, step{"SET k me PXAT 1", "OK"}, step{"EXISTS k", 0})
	})
	t.Run("NX with GET", func(t *testing.T) {
		if s.is(redis62) {
			s.play(t, step{"SET new me NX GET", "ERR syntax error"})
			return
		}
		s.play(t, step{"SET new me NX GET", nil}, step{"SET new other NX GET", "me"}, step{"GET new", "me"})
	})
	t.Run("the version of a Valkey", func(t *testing.T) {
		info := s.ask(t, "INFO server").(string)
		require.Equal(t, s.is(valkey91), strings.Contains(info, "redis_version:7.2.4\r\n"))
	})
	t.Run("events", func(t *testing.T) {
		heard := s.rdb.PSubscribe(t.Context(), "__keyevent@0__:*")
		t.Cleanup(func() { _ = heard.Close() })
		_, err := heard.Receive(t.Context())
		require.NoError(t, err)
		s.play(t, step{"SET k me", "OK"}, step{"PEXPIRE k 0", 1}, step{"SET k me", "OK"}, step{"FLUSHALL", "OK"}, step{"SET end me", "OK"})
		var events []string
		for len(events) < 4 {
			m, err := heard.ReceiveMessage(t.Context())
			require.NoError(t, err)
			events = append(events, strings.TrimPrefix(m.Channel, "__keyevent@0__:")+" "+m.Payload)
		}
		ended := "del k"
		if s.is(valkey91) {
			ended = "expired k"
		}
		require.Equal(t, []string{"set k", ended, "set k", "set end"}, events)
	})
}

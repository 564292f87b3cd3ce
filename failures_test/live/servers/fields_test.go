//go:build servers

package servers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A field of a hash as a lock, with a lease of its own.
func TestFieldLeases(t *testing.T) {
	t.Parallel()
	s := start(t, "--notify-keyspace-events", "EA")
	if s.is(redis62, redis70) {
		s.play(t, step{"HPEXPIRE k 50 FIELDS 1 f", "ERR unknown command"}, step{"HSETEX k PX 50 FIELDS 1 f v", "ERR unknown command"})
		return
	}
	t.Run("who removes the lease", func(t *testing.T) {
		s.play(t,
			step{"HSETEX k FNX PX 60000 FIELDS 1 f 1", 1},
			step{"HSETEX k FNX PX 60000 FIELDS 1 f 2", 0},
			step{"PTTL k", -1}, // the key has no lease
			step{"HINCRBY k f 1", 2},
			step{"HTTL k FIELDS 1 f", []any{int64(60)}},
			step{"HSET k f 3", 0},
			step{"HTTL k FIELDS 1 f", []any{int64(-1)}},
		)
	})
	t.Run("all fields or none", func(t *testing.T) {
		s.play(t,
			step{"HSETEX one FNX FIELDS 1 f 1", 1},
			step{"HSETEX one FNX FIELDS 2 f 2 g 2", 0},
			step{"HGET one g", nil},
		)
	})
	t.Run("a lease of zero", func(t *testing.T) {
		s.play(t,
			step{"HSET zero f 1 g 1", 2},
			step{"HPEXPIRE zero 0 FIELDS 2 f none", []any{int64(2), int64(-2)}}, // 2: deleted
			step{"HEXISTS zero f", 0},
			step{"HSETEX past FNX PX 0 FIELDS 1 f 1", 1},
			step{"EXISTS past", 0},
			step{"SET past v NX PX 0", "ERR invalid expire time"},
		)
	})
	t.Run("events", func(t *testing.T) {
		heard := s.rdb.PSubscribe(t.Context(), "__keyevent@0__:*")
		t.Cleanup(func() { _ = heard.Close() })
		_, err := heard.Receive(t.Context())
		require.NoError(t, err)
		s.play(t, step{"HSETEX e FNX PX 30 FIELDS 1 f 1", 1})
		var events []string
		for len(events) < 4 {
			m, err := heard.ReceiveMessage(t.Context())
			require.NoError(t, err)
			events = append(events, strings.TrimPrefix(m.Channel, "__keyevent@0__:"))
		}
		require.Equal(t, []string{"hset", "hexpire", "hexpired", "del"}, events)
		s.play(t, step{"TYPE e", "none"})
	})
}

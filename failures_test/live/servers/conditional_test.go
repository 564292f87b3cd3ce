//go:build servers

package servers

import "testing"

// Compare and delete, compare and renew, without a script.
func TestConditionalDeletes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.play(t, step{"SET k me", "OK"}, step{"HSET hash f v", 1})
	t.Run("DELEX", func(t *testing.T) {
		if !s.is(redis86) {
			s.play(t, step{"DELEX k IFEQ other", "ERR unknown command"})
			return
		}
		s.play(t,
			step{"DELEX none IFEQ me", 0},
			step{"DELEX k IFEQ other", 0},
			step{"DELEX hash IFEQ v", "ERR Key should be of string type if conditions are specified"},
			step{"DELEX hash", 1},
			step{"DELEX k IFEQ me", 1},
		)
	})
	t.Run("DELIFEQ", func(t *testing.T) {
		if !s.is(valkey91) {
			s.play(t, step{"DELIFEQ k other", "ERR unknown command"})
			return
		}
		s.play(t,
			step{"DELIFEQ none me", 0},
			step{"DELIFEQ k other", 0},
			step{"DELIFEQ hash v", "WRONGTYPE"},
			step{"DELIFEQ k me", 1},
		)
	})
	t.Run("SET IFEQ", func(t *testing.T) {
		s.play(t, step{"SET own me PX 60000", "OK"})
		if !s.is(redis86, valkey91) {
			s.play(t, step{"SET own me IFEQ me PX 60000", "ERR syntax error"})
			return
		}
		s.play(t,
			step{"SET own me IFEQ other PX 60000", nil},
			step{"SET own next IFEQ other GET", "me"}, // the same reply as for a match
			step{"GET own", "me"},
			step{"SET own next IFEQ me GET", "me"},
			step{"GET own", "next"},
			step{"PTTL own", -1},
			step{"SET none me IFEQ me PX 60000", nil},
			step{"EXISTS none", 0},
			step{"SET own me NX IFEQ next", "ERR syntax error"},
			step{"HSET h f v", 1},
			step{"SET h me IFEQ v", "WRONGTYPE"},
		)
		if s.is(valkey91) {
			s.play(t, step{"SET own me IFEQ next NX", "ERR syntax error"}, step{"SET own me IFEQ next XX", "ERR syntax error"})
			return
		}
		s.play(t,
			step{"SET own me IFEQ next NX", nil}, // it matches
			step{"SET none me IFEQ next NX", nil},
			step{"SET own me IFEQ next XX", "OK"},
		)
	})
}

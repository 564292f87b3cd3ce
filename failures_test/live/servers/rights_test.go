//go:build servers

package servers

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// user returns a client of a new user with those rights.
func (s *server) user(t *testing.T, rights string) *redis.Client {
	t.Helper()
	s.play(t, step{"ACL SETUSER probe reset on >secret " + rights, "OK"})
	return s.client(t, func(o *redis.Options) { o.Username, o.Password = "probe", "secret" })
}

func TestRightsInScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	const release = "redis.call('DEL', KEYS[1]) return redis.call('PUBLISH', KEYS[1], 'free')"
	t.Run("a command", func(t *testing.T) {
		u := s.user(t, "~* &* +@all -del")
		s.play(t, step{"SET k me", "OK"})
		text := ask(t, u, "EVAL", release, 1, "k")
		switch {
		case s.is(redis62):
			requireReply(t, "ERR Error running script (call to f_", text, "DEL")
			require.Contains(t, text, "The user executing the script can't run this command or subcommand")
		case s.is(redis70):
			requireReply(t, "ERR The user executing the script can't run this command or subcommand script: ", text, "DEL")
		default:
			requireReply(t, "ERR ACL failure in script: User probe has no permissions to run the 'del' command", text, "DEL")
		}
		requireReply(t, "NOPERM", ask(t, u, "DEL k"), "DEL without a script")
	})
	t.Run("a key", func(t *testing.T) {
		u := s.user(t, "~a* &* +@all")
		requireReply(t, "NOPERM", ask(t, u, "EVAL", "return 1", 1, "k"), "a key that the script does not use")
		text := ask(t, u, "EVAL", "return redis.call('GET', ARGV[1])", 0, "k")
		switch {
		case s.is(redis62):
			require.Contains(t, text, "The user executing the script can't access at least one of the keys mentioned in the command arguments")
		case s.is(redis70):
			requireReply(t, "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments", text, "GET")
		default:
			requireReply(t, "ERR ACL failure in script: No permissions to access a key", text, "GET")
		}
	})
	t.Run("a channel that was not thought of", func(t *testing.T) {
		u := s.user(t, "~* +@all")
		s.play(t, step{"SET k me", "OK"})
		text := ask(t, u, "EVAL", release, 1, "k")
		switch {
		case s.is(redis62):
			require.EqualValues(t, 0, text) // a new user may use all channels
		case s.is(redis70):
			requireReply(t, "ERR The user executing the script can't publish to the channel mentioned in the command", text, "PUBLISH")
		default:
			requireReply(t, "ERR ACL failure in script: No permissions to access a channel", text, "PUBLISH")
		}
		s.play(t, step{"EXISTS k", 0}) // the script is not rolled back
	})
	t.Run("EVALSHA and EVAL are two rights", func(t *testing.T) {
		u := s.user(t, "~* &* +evalsha")
		requireReply(t, "NOPERM", redis.NewScript("return 7").Run(t.Context(), u, nil).Err().Error(), "the fallback")
	})
}

//go:build servers

package servers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
)

// The servers whose answers the tests know.
const (
	redis62  = "redis 6.2"
	redis70  = "redis 7.0"
	redis82  = "redis 8.2"
	redis86  = "redis 8.6"
	valkey91 = "valkey 9.1"
)

var known = []string{redis62, redis70, redis82, redis86, valkey91}

// within is the timeout of everything that a test waits for.
const within = 20 * time.Second

func TestMain(m *testing.M) {
	logging.Disable() // go-redis logs the errors that the tests provoke
	m.Run()
}

type server struct {
	*redisserver.Server
	rdb     *redis.Client
	version string
}

// start starts a server that ends with the test, which fails if it does not know the server's version.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{Server: redisserver.ForTest(t, redisserver.Config{Args: args, Port: redisserver.AnyPort})}
	s.rdb = s.client(t)
	var err error
	s.version, err = realredis.At(s.Socket()).Version(t.Context())
	require.NoError(t, err)
	s.version = s.version[:strings.LastIndex(s.version, ".")] // without the patch
	require.Contains(t, known, s.version, "the tests do not know the answers of this server")
	return s
}

// client returns another client of the server.
func (s *server) client(t *testing.T, change ...func(*redis.Options)) *redis.Client {
	rdb := realredis.NewClient(s.Socket(), change...)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// is reports whether the server is one of those.
func (s *server) is(versions ...string) bool { return slices.Contains(versions, s.version) }

// doer is a client or a connection.
type doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// ask sends the words and further arguments, and returns the reply; for an error its text.
func ask(t *testing.T, rdb doer, words string, args ...any) any {
	t.Helper()
	var command []any
	for _, word := range strings.Fields(words) {
		command = append(command, word)
	}
	reply, err := rdb.Do(t.Context(), append(command, args...)...).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return err.Error()
	}
	return reply
}

func (s *server) ask(t *testing.T, words string, args ...any) any {
	t.Helper()
	return ask(t, s.rdb, words, args...)
}

// eval runs a script.
func (s *server) eval(t *testing.T, script string, keys ...any) any {
	t.Helper()
	return s.ask(t, "EVAL", append([]any{script, len(keys)}, keys...)...)
}

// step is a command and the reply that is expected: for a string its beginning.
type step struct {
	command string
	want    any
}

// play sends the commands one after the other.
func (s *server) play(t *testing.T, steps ...step) {
	t.Helper()
	for _, step := range steps {
		requireReply(t, step.want, s.ask(t, step.command), step.command)
	}
}

// requireReply requires a reply; of a text only the beginning.
func requireReply(t *testing.T, want, reply any, of string) {
	t.Helper()
	beginning, isText := want.(string)
	if text, ok := reply.(string); ok && isText {
		require.True(t, strings.HasPrefix(text, beginning), "%s: %q, not %q", of, text, beginning)
		return
	}
	require.EqualValues(t, want, reply, of)
}

// eventually repeats ask until it returns true.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	require.NoError(t, redisserver.Until(t.Context(), func(context.Context) error {
		if !ask() {
			return errors.New("it does not happen: " + what)
		}
		return nil
	}))
}

//go:build live

package stage6_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	final "lockkata/stage6_reentrant_pubsub"
)

// atOnce is the number of parallel tests, which mostly wait.
const atOnce = 16

// TestMain requires that no goroutine and no process is left.
func TestMain(m *testing.M) {
	logging.Disable() // many servers are down on purpose
	flag.Parse()
	_ = flag.Set("test.parallel", strconv.Itoa(atOnce)) // every test program has this flag
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left := fleet.Running(); left > 0 {
			fmt.Fprintln(os.Stderr, "redis-server processes that still run:", left)
			code = 1
		}
		os.Exit(code)
	}))
}

const (
	key     = "lock:{order:1001}"
	channel = "lock__channel:{order:1001}"
)

// server is the redis-server of one test.
type server struct {
	*redisserver.Server
	t     *testing.T
	admin *redis.Client // for commands of an operator
}

// start starts a redis-server that has the lock's scripts already loaded.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{Server: redisserver.ForTest(t, redisserver.Config{Args: args}), t: t}
	s.admin = s.Client(func(o *redis.Options) { o.MaxRetries = 5 }) // its connections can break too
	for _, text := range sources(t) {
		require.NoError(t, s.admin.ScriptLoad(t.Context(), text).Err())
	}
	return s
}

// sources returns the lock's scripts.
func sources(t *testing.T) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("../../../stage6_reentrant_pubsub/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		texts = append(texts, string(raw))
	}
	return texts
}

// Client returns a new client of the server.
func (s *server) Client(change ...func(*redis.Options)) *redis.Client {
	return clientOf(s.t, s.Socket(), change...)
}

func clientOf(t *testing.T, addr string, change ...func(*redis.Options)) *redis.Client {
	rdb := realredis.NewClient(addr, change...)
	t.Cleanup(func() { _ = rdb.Close() }) // some connections are broken
	return rdb
}

// Mutex returns the lock of a new process.
func (s *server) Mutex(opts ...final.Option) *final.Mutex {
	s.t.Helper()
	return mutexOn(s.t, s.Client(), opts...)
}

// mutexOn returns the lock of a process that uses that client.
func mutexOn(t *testing.T, rdb redis.UniversalClient, opts ...final.Option) *final.Mutex {
	t.Helper()
	m, err := serviceOn(t, rdb, opts...).Mutex("order:1001")
	require.NoError(t, err)
	return m
}

// serviceOn returns the service of a process that uses that client.
func serviceOn(t *testing.T, rdb redis.UniversalClient, opts ...final.Option) *final.Service {
	t.Helper()
	svc, err := final.NewService(rdb, append([]final.Option{final.WithWatchdogTimeout(lease)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = svc.Close() }) // some servers no longer answer
	return svc
}

// Set sets a parameter of the running server.
func (s *server) Set(name, value string) {
	s.t.Helper()
	require.NoError(s.t, s.admin.ConfigSet(s.t.Context(), name, value).Err())
}

// kill breaks the connections of a type: normal or pubsub.
func (s *server) kill(kind string) int64 {
	s.t.Helper()
	n, err := s.admin.ClientKillByFilter(s.t.Context(), "TYPE", kind, "SKIPME", "yes").Result()
	require.NoError(s.t, err)
	return n
}

// restart kills the server with kill -9 and starts it again.
func (s *server) restart() {
	s.t.Helper()
	s.Kill()
	require.NoError(s.t, s.Launch(s.t.Context()))
}

// HoldCounts returns the counts in the lock's hash.
func (s *server) HoldCounts() []string { return s.admin.HVals(s.t.Context(), key).Val() }

// AwaitWaiters waits until that many processes are subscribed to the lock's channel.
func (s *server) AwaitWaiters(count int64) {
	s.t.Helper()
	eventually(s.t, func() bool {
		return s.admin.PubSubNumSub(s.t.Context(), channel).Val()[channel] == count
	}, "too few or too many subscribers")
}

package stage6_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
	final "lockkata/stage6_reentrant_pubsub"
)

// server is the redis-server of one test.
type server struct {
	*redisserver.Server
	t     *testing.T
	admin *redis.Client // what an operator types
}

// start starts a redis-server that knows the lock's scripts from an earlier day.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{Server: redisserver.ForTest(t, redisserver.Config{Args: args}), t: t}
	s.admin = s.Client(func(o *redis.Options) { o.MaxRetries = 5 }) // it meets broken connections too
	s.loadScripts()
	return s
}

func (s *server) loadScripts() {
	s.t.Helper()
	for _, text := range sources(s.t) {
		require.NoError(s.t, s.admin.ScriptLoad(s.t.Context(), text).Err())
	}
}

// Client is a connection pool of its own.
func (s *server) Client(change ...func(*redis.Options)) *redis.Client {
	return clientOf(s.t, s.Socket(), change...)
}

func clientOf(t *testing.T, addr string, change ...func(*redis.Options)) *redis.Client {
	rdb := redisserver.NewClient(addr, change...)
	t.Cleanup(func() { _ = rdb.Close() }) // some connections are broken
	return rdb
}

// Mutex is the lock of a process of its own.
func (s *server) Mutex(opts ...final.Option) *final.Mutex {
	s.t.Helper()
	return mutexOn(s.t, s.Client(), opts...)
}

// mutexOn is the lock of a process that uses that client.
func mutexOn(t *testing.T, rdb redis.UniversalClient, opts ...final.Option) *final.Mutex {
	t.Helper()
	svc, err := final.NewService(rdb, append([]final.Option{final.WithWatchdogTimeout(lease)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = svc.Close() }) // some servers do not answer any more
	m, err := svc.Mutex("order:1001")
	require.NoError(t, err)
	return m
}

// Config sets a parameter of the running server.
func (s *server) Config(name, value string) {
	s.t.Helper()
	require.NoError(s.t, s.admin.ConfigSet(s.t.Context(), name, value).Err())
}

// HoldCounts are the counts in the lock's hash.
func (s *server) HoldCounts() []string { return s.admin.HVals(s.t.Context(), key).Val() }

// AwaitWaiters waits until that many processes listen for the lock.
func (s *server) AwaitWaiters(count int64) {
	s.t.Helper()
	eventually(s.t, func() bool {
		return s.admin.PubSubNumSub(s.t.Context(), channel).Val()[channel] == count
	}, "nobody listens")
}

// sources are the lock's scripts by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../stage6_reentrant_pubsub/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[strings.TrimSuffix(filepath.Base(file), ".lua")] = string(raw)
	}
	return texts
}

// names tell commands apart: one that runs a script of the lock's has the name of
// that script, any other has Redis's name.
type names map[string]string // hash → name

func scriptNames(t *testing.T) names {
	t.Helper()
	byHash := names{}
	for name, text := range sources(t) {
		byHash[redis.NewScript(text).Hash()] = name
	}
	return byHash
}

func (n names) of(args ...string) string {
	command := strings.ToUpper(args[0])
	if command == "EVALSHA" && n[args[1]] != "" {
		return n[args[1]]
	}
	return command
}

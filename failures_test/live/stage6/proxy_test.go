package stage6_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/proxy"
	final "lockkata/stage6_reentrant_pubsub"
)

// way is the bad network to a server.
type way struct{ *proxy.Proxy }

// Proxy is a way to the server that breaks on request.
func (s *server) Proxy() way {
	s.t.Helper()
	p, err := proxy.Open(proxy.Config{Server: s.Socket(), Scripts: sources(s.t)})
	require.NoError(s.t, err)
	s.t.Cleanup(p.Close)
	return way{p}
}

// Client uses the proxy.
func (p way) Client(t *testing.T, change ...func(*redis.Options)) *redis.Client {
	return clientOf(t, p.Addr(), change...)
}

// Mutex is the lock of a process behind the proxy.
func (p way) Mutex(t *testing.T, opts ...final.Option) *final.Mutex {
	t.Helper()
	return mutexOn(t, p.Client(t), opts...)
}

// Await waits until that many commands of a name have come.
func (p way) Await(t *testing.T, name string, count int) {
	t.Helper()
	eventually(t, func() bool { return p.Count(name) >= count }, "no "+name)
}

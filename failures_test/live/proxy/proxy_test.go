//go:build live

package proxy_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/live/realredis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// moment is a delay that is long enough to measure.
const moment = 50 * time.Millisecond

// open returns a new Redis, a proxy in front of it, and a client with one connection and no
// retries.
func open(t *testing.T) (*miniredis.Miniredis, *proxy.Proxy, *redis.Client) {
	t.Helper()
	server := miniredis.RunT(t)
	p, err := proxy.Open(server.Addr())
	require.NoError(t, err)
	t.Cleanup(p.Close)
	rdb := realredis.NewClient(p.Addr(), func(o *redis.Options) { o.MaxRetries, o.PoolSize = -1, 1 })
	t.Cleanup(func() { _ = rdb.Close() }) // its connection may be broken
	require.NoError(t, rdb.Ping(t.Context()).Err())
	return server, p, rdb
}

func TestSlowAnswersArrive(t *testing.T) {
	_, p, rdb := open(t)
	p.Slow(moment)
	began := time.Now()
	require.NoError(t, rdb.Set(t.Context(), "k", "line one\r\nline two", 0).Err())
	require.Equal(t, "line one\r\nline two", rdb.Get(t.Context(), "k").Val())
	require.GreaterOrEqual(t, time.Since(began), 2*moment)
}

func TestSilenceKeepsCommandsBack(t *testing.T) {
	server, p, rdb := open(t)
	p.Silence()
	brief, cancel := context.WithTimeout(t.Context(), moment)
	defer cancel()
	require.ErrorContains(t, rdb.Set(brief, "k", "v", 0).Err(), "timeout")
	require.False(t, server.Exists("k"))
	p.Talk()
	require.Eventually(t, func() bool { return server.Exists("k") }, time.Minute, time.Millisecond)
}

func TestCutBreaksOpenConnectionsOnly(t *testing.T) {
	server, p, rdb := open(t)
	listener := rdb.Subscribe(t.Context(), "news")
	defer listener.Close()
	_, err := listener.Receive(t.Context())
	require.NoError(t, err)
	server.Publish("news", "hello")
	m, err := listener.ReceiveMessage(t.Context())
	require.NoError(t, err)
	require.Equal(t, "hello", m.Payload)
	p.Cut()
	_, err = listener.ReceiveTimeout(t.Context(), time.Minute)
	require.Error(t, err)
	require.NoError(t, rdb.Ping(t.Context()).Err(), "on a new connection")
}

func TestProxyPassesOnTheEndOfAConnection(t *testing.T) {
	server, _, rdb := open(t)
	server.Close()
	require.Error(t, rdb.Ping(t.Context()).Err())
}

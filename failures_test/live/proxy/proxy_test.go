//go:build live

package proxy_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/proxy"
	"lockkata/failures_test/live/redisserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const script = `return redis.call("INCR", KEYS[1])`

// long is a time that no test waits for; moment is one that shows.
const (
	long   = time.Minute
	moment = 50 * time.Millisecond
)

// open is a proxy before a Redis of its own, and a client of one connection that
// sends nothing twice.
func open(t *testing.T) (*miniredis.Miniredis, *proxy.Proxy, *redis.Client) {
	t.Helper()
	server := miniredis.RunT(t)
	p, err := proxy.Open(proxy.Config{Server: server.Addr(), Scripts: proxy.Scripts{"count": script}})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	rdb := redisserver.NewClient(p.Addr(), func(o *redis.Options) {
		o.MaxRetries, o.PoolSize, o.DisableIdentity = -1, 1, true
	})
	t.Cleanup(func() { _ = rdb.Close() }) // its connection may be broken
	require.NoError(t, rdb.Ping(t.Context()).Err())
	return server, p, rdb
}

func briefly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), moment)
	t.Cleanup(cancel)
	return ctx
}

func TestProxyPassesEverythingAndCountsByName(t *testing.T) {
	server, p, rdb := open(t)
	count := redis.NewScript(script)
	for range 3 {
		require.NoError(t, count.Run(t.Context(), rdb, []string{"n"}).Err())
	}
	_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		pipe.Set(t.Context(), "k", "line one\r\nline two", 0)
		return pipe.Get(t.Context(), "k").Err()
	})
	require.NoError(t, err)
	require.Equal(t, []int{3, 1, 1, 0}, []int{p.Count("count"), p.Count("EVAL"), p.Count("SET"), p.Count("DEL")})
	value, err := server.Get("k")
	require.NoError(t, err)
	require.Equal(t, "line one\r\nline two", value)
}

func TestEachFaultStrikesTheNextCommandOfItsNameOnly(t *testing.T) {
	for name, c := range map[string]struct {
		fault    proxy.Fault
		executed bool
		waits    bool // until its caller gives up
	}{
		"cut before":  {proxy.CutCommand, false, false},
		"cut after":   {proxy.CutReply, true, false},
		"drop reply":  {proxy.DropReply, true, true},
		"delay reply": {proxy.DelayReply, true, true},
		"half open":   {proxy.HalfOpen, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			server, p, rdb := open(t)
			p.Late(long)
			p.Next("SET", c.fault)
			require.NoError(t, rdb.Ping(t.Context()).Err(), "another command")
			err := rdb.Set(briefly(t), "k", "v", 0).Err()
			require.Error(t, err)
			var network net.Error
			require.Equal(t, c.waits, errors.As(err, &network) && network.Timeout(), "%v", err)
			require.Eventually(t, func() bool { return server.Exists("k") == c.executed }, long, time.Millisecond)
			require.NoError(t, rdb.Set(t.Context(), "k", "v", 0).Err(), "the next of that name")
			require.Equal(t, 2, p.Count("SET"))
		})
	}
}

func TestDelayedReplyArrives(t *testing.T) {
	_, p, rdb := open(t)
	p.Late(moment)
	p.Next("SET", proxy.DelayReply)
	began := time.Now()
	require.NoError(t, rdb.Set(t.Context(), "k", "v", 0).Err())
	require.GreaterOrEqual(t, time.Since(began), moment)
	p.Slow(moment)
	began = time.Now()
	require.NoError(t, rdb.Get(t.Context(), "k").Err())
	require.GreaterOrEqual(t, time.Since(began), moment)
}

func TestCutBreaksWhatIsOpenAndSilenceKeepsItBack(t *testing.T) {
	server, p, rdb := open(t)
	p.Silence()
	set := make(chan error, 1)
	go func() { set <- rdb.Set(t.Context(), "k", "v", 0).Err() }()
	require.Eventually(t, func() bool { return p.Count("SET") == 1 }, long, time.Millisecond)
	require.False(t, server.Exists("k"))
	require.Empty(t, set)
	p.Talk()
	require.NoError(t, <-set)
	require.True(t, server.Exists("k"))

	p.Next("GET", proxy.DropReply)
	get := make(chan error, 1)
	go func() { get <- rdb.Get(t.Context(), "k").Err() }()
	require.Eventually(t, func() bool { return p.Count("GET") == 1 }, long, time.Millisecond)
	p.Cut()
	require.Error(t, <-get)
	require.NoError(t, rdb.Get(t.Context(), "k").Err())
}

func TestListenerHearsUntilItsConnectionIsHalfOpen(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		server, p, _ := open(t)
		rdb := redisserver.NewClient(p.Addr(), func(o *redis.Options) { o.Protocol = protocol })
		defer rdb.Close()
		listener := rdb.Subscribe(t.Context(), "news")
		defer listener.Close()
		_, err := listener.Receive(t.Context())
		require.NoError(t, err)
		for range 3 {
			server.Publish("news", "hello")
			m, err := listener.ReceiveMessage(t.Context())
			require.NoError(t, err)
			require.Equal(t, "hello", m.Payload)
		}
		p.HalfOpen("SUBSCRIBE")
		require.Equal(t, 1, server.Publish("news", "nobody hears this"))
		_, err = listener.ReceiveTimeout(t.Context(), moment)
		require.Error(t, err)
		require.NoError(t, rdb.Ping(t.Context()).Err(), "another connection")
	}
}

func TestClientSeesAtOnceThatRedisHasHungUp(t *testing.T) {
	server, p, _ := open(t)
	conn, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("*1\r\n$4\r\nPING\r\n"))
	require.NoError(t, err)
	answer := make([]byte, 7)
	_, err = conn.Read(answer)
	require.NoError(t, err)
	server.Close()
	_, err = conn.Read(answer)
	require.ErrorContains(t, err, "EOF")
}

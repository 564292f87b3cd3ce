//go:build live

package stage6_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/proxy"
	final "lockkata/stage6_reentrant_pubsub"
)

// withAndWithout runs a test with a client whose first connection goes through a proxy, and with its AutoPipeliners.
func withAndWithout(t *testing.T, test func(t *testing.T, s *server, rdb redis.UniversalClient, first *proxy.Proxy, piped bool)) {
	t.Parallel()
	for name, options := range map[string]*redis.AutoPipelineOptions{"plain": nil, "AutoPipeline": {}, "full duplex": {FullDuplex: true}} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			first, err := proxy.Open(s.Socket())
			require.NoError(t, err)
			t.Cleanup(first.Close)
			var dials atomic.Int32
			var rdb redis.UniversalClient = s.Client(func(o *redis.Options) {
				o.ReadTimeout = 3 * time.Second
				o.Dialer = func(_ context.Context, network, addr string) (net.Conn, error) {
					if dials.Add(1) == 1 {
						network, addr = "tcp", first.Addr()
					}
					return net.Dial(network, addr)
				}
			})
			if options != nil {
				rdb, err = rdb.AutoPipelineWithOptions(options)
				require.NoError(t, err)
				_, err = final.NewService(rdb)
				require.ErrorContains(t, err, "no lock works on a *redis.AutoPipeliner")
			}
			require.NoError(t, rdb.Set(t.Context(), key, "A", endless).Err())
			test(t, s, rdb, first, options != nil)
		})
	}
}

func TestAutoPipelinerExecutesACommandWhoseContextHasEnded(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	withAndWithout(t, func(t *testing.T, s *server, rdb redis.UniversalClient, _ *proxy.Proxy, piped bool) {
		require.ErrorIs(t, rdb.Do(ended, "DEL", key).Err(), context.Canceled, "Do is not batched")
		deleted, err := redis.NewScript(`return redis.call("DEL", KEYS[1])`).Run(ended, rdb, []string{key}).Bool()
		require.Equal(t, piped, deleted && err == nil, "%v", err)
		taken, err := rdb.SetNX(ended, "another", "A", endless).Result()
		require.Equal(t, piped, taken && err == nil, "%v", err)
	})
}

// A's connection is silent. B could use another one, and both have a deadline before the read timeout.
func TestAutoPipelinerKeepsACommandBehindASilentConnection(t *testing.T) {
	withAndWithout(t, func(t *testing.T, s *server, rdb redis.UniversalClient, first *proxy.Proxy, piped bool) {
		first.Silence()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		renew := func() { rdb.PExpire(ctx, key, endless) }
		go renew()
		time.Sleep(100 * time.Millisecond)
		begun := time.Now()
		renew()
		require.Equal(t, piped, time.Since(begun) > 2*time.Second)
	})
}

func TestAutoPipelinerRepeatsACommandWhoseContextHasEnded(t *testing.T) {
	withAndWithout(t, func(t *testing.T, s *server, rdb redis.UniversalClient, first *proxy.Proxy, piped bool) {
		first.Slow(endless)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- rdb.Incr(ctx, "count").Err() }()
		count := func() string { return s.admin.Get(t.Context(), "count").Val() }
		eventually(t, func() bool { return count() == "1" }, "it is not executed")
		cancel()
		first.Cut()
		err := receive(t, done, "it does not return")
		require.Equal(t, piped, err == nil && count() == "2", "%v", err)
	})
}

//go:build servers

package proxies_test

import (
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// twoServers returns two keys that the proxy sends to different servers.
func (s *site) twoServers(rdb *redis.Client) (first, second string) {
	s.t.Helper()
	keys := map[int]string{}
	for i := 0; len(keys) < 2; i++ {
		require.Less(s.t, i, 50, "one server gets all keys")
		key := "key:" + strconv.Itoa(i)
		require.NoError(s.t, rdb.Set(s.t.Context(), key, 1, 0).Err())
		keys[int(s.servers[0].Exists(s.t.Context(), key).Val())] = key
	}
	return keys[0], keys[1]
}

// requireFirstKeyDecides requires that a script with keys of two servers runs on that of the first.
func (s *site) requireFirstKeyDecides(rdb *redis.Client) {
	s.t.Helper()
	const script = "return {redis.call('EXISTS', KEYS[1]), redis.call('EXISTS', KEYS[2])}"
	first, second := s.twoServers(rdb)
	for _, keys := range [][]string{{first, second}, {second, first}} {
		found, err := rdb.Eval(s.t.Context(), script, keys).Int64Slice()
		require.NoError(s.t, err)
		require.Equal(s.t, []int64{1, 0}, found)
	}
}

func TestEnvoyAnswersForItself(t *testing.T) {
	t.Parallel()
	s := startEnvoy(t)
	rdb := s.client()
	require.EqualError(t, rdb.Do(t.Context(), "HELLO", 3).Err(), "NOPROTO unsupported protocol version")
	require.EqualError(t, rdb.Do(t.Context(), "SUBSCRIBE", "c").Err(), "ERR unknown command 'SUBSCRIBE', with args beginning with: c")
	require.EqualError(t, rdb.Do(t.Context(), "WAIT", 1, 0).Err(), "ERR unknown command 'WAIT', with args beginning with: 1")
	s.requireFirstKeyDecides(rdb)

	plain, err := rdb.Do(t.Context(), "TIME").Int64Slice()
	require.NoError(t, err)
	require.Equal(t, plain[0], plain[1]/1_000_000, "the second number is the whole time")
	inScript, err := rdb.Eval(t.Context(), "return redis.call('TIME')", []string{"key"}).Int64Slice()
	require.NoError(t, err)
	require.Less(t, inScript[1], int64(1_000_000))
}

func TestTwemproxyClosesOnWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := startTwemproxy(t)
	rdb := s.client()
	s.requireFirstKeyDecides(rdb)
	for _, command := range [][]any{
		{"TIME"}, {"SELECT", 0}, {"INFO"}, {"WAIT", 0, 0}, {"SCRIPT", "EXISTS", "0"}, {"EVAL", "return 1", 0}, {"PUBLISH", "c", "m"}, {"SUBSCRIBE", "c"},
	} {
		require.ErrorIs(t, rdb.Do(t.Context(), command...).Err(), io.EOF, "%v", command)
	}
}

// The ping of Channel, every three seconds, keeps a connection open.
func TestHAProxyCutsASubscriptionWithoutPings(t *testing.T) {
	t.Parallel()
	s := startHAProxy(t)
	s.change = func(o *redis.Options) { o.Addr = s.spare }
	rdb := s.client()
	pinged, silent := rdb.Subscribe(t.Context(), "pinged"), rdb.Subscribe(t.Context(), "silent")
	defer pinged.Close()
	defer silent.Close()
	subscriptions := pinged.ChannelWithSubscriptions()
	<-subscriptions
	_, err := silent.Receive(t.Context())
	require.NoError(t, err)
	begun := time.Now()
	_, err = silent.Receive(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.Greater(t, time.Since(begun), 4*time.Second)
	next, err := silent.Receive(t.Context())
	require.NoError(t, err)
	require.IsType(t, &redis.Subscription{}, next, "it has subscribed again")
	require.NoError(t, rdb.Publish(t.Context(), "pinged", "m").Err())
	require.IsType(t, &redis.Message{}, <-subscriptions, "it was not cut")
}

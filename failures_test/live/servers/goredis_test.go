//go:build servers

package servers

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// client returns a client of the fake that waits little between two attempts.
func (f *fake) client(t *testing.T, change ...func(*redis.Options)) *redis.Client {
	options := &redis.Options{Addr: f.addr, MinRetryBackoff: time.Millisecond, MaxRetryBackoff: time.Millisecond}
	for _, c := range change {
		c(options)
	}
	rdb := redis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{"NOAUTH Authentication required.", "NOPERM no", "LOADING wait", "ERR max number of clients reached"} {
		t.Run("HELLO "+refusal, func(t *testing.T) {
			f := serve(t, map[string]string{"hello": "-" + refusal})
			require.NoError(t, f.client(t).Set(t.Context(), "k", "v", 0).Err())
		})
	}
	t.Run("SELECT", func(t *testing.T) {
		f := serve(t, map[string]string{"select": "-ERR DB index is out of range"})
		rdb := f.client(t, func(o *redis.Options) { o.DB = 99 })
		require.ErrorContains(t, rdb.Set(t.Context(), "k", "v", 0).Err(), "DB index is out of range")
		require.Zero(t, f.count("set k"))
	})
	t.Run("a password that is wrong in HELLO only", func(t *testing.T) {
		f := serve(t, map[string]string{"hello": "-WRONGPASS invalid username-password pair"})
		rdb := f.client(t, func(o *redis.Options) { o.Password = "secret" })
		require.NoError(t, rdb.Set(t.Context(), "k", "v", 0).Err())
		require.Equal(t, 1, f.count("auth secret"))
		f = serve(t, map[string]string{"hello": "-WRONGPASS invalid username-password pair", "auth": "-WRONGPASS invalid password"})
		require.ErrorContains(t, f.client(t, func(o *redis.Options) { o.Password = "secret" }).Set(t.Context(), "k", "v", 0).Err(), "WRONGPASS")
	})
	t.Run("what is sent on a connection", func(t *testing.T) {
		f := serve(t, map[string]string{"hello": "%1\r\n$5\r\nproto\r\n:3", "client": "-ERR unknown subcommand"})
		rdb := f.client(t)
		for range 3 {
			conn := rdb.Conn()
			defer conn.Close()
			require.NoError(t, conn.Set(t.Context(), "k", "v", 0).Err())
		}
		require.Equal(t, 3, f.count("hello 3"))
		require.Equal(t, 6, f.count("client setinfo"))
		require.Equal(t, 1, f.count("client maint_notifications"))
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for refusal, want := range map[string][2]int{ // sent by a client and by a ClusterClient
		"TRYAGAIN t": {4, 4}, "CLUSTERDOWN t": {4, 4}, "LOADING t": {4, 4}, "READONLY t": {4, 4}, "MASTERDOWN t": {4, 4},
		"NOREPLICAS t": {4, 4}, "ERR max number of clients reached": {4, 4},
		"BUSY t": {1, 1}, "OOM t": {1, 1}, "MISCONF t": {1, 1}, "NOPERM t": {1, 1}, "CROSSSLOT t": {1, 1}, "NOAUTH t": {1, 1}, "ERR t": {1, 1},
		"MOVED 1 127.0.0.1:PORT": {1, 4}, "ASK 1 127.0.0.1:PORT": {1, 4}, "": {4, 4},
	} {
		t.Run(refusal, func(t *testing.T) {
			t.Parallel()
			reply := ""
			if refusal != "" {
				reply = "-" + refusal
			}
			f := serve(t, map[string]string{
				"set k": reply, "command": "-ERR unknown command",
				"cluster slots": "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:PORT",
			})
			require.Error(t, f.client(t).Set(t.Context(), "k", "v", 0).Err())
			got := f.count("set k")
			rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{f.addr}, MaxRetries: -1, MinRetryBackoff: time.Millisecond, MaxRetryBackoff: time.Millisecond})
			defer rdb.Close()
			require.Error(t, rdb.Set(t.Context(), "k", "v", 0).Err())
			require.Equal(t, want, [2]int{got, f.count("set k") - got})
		})
	}
	t.Run("a pipeline", func(t *testing.T) {
		f := serve(t, map[string]string{"incr": ""})
		_, err := f.client(t).Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			pipe.Set(t.Context(), "k", "v", 0) // answered
			pipe.Incr(t.Context(), "n")
			return nil
		})
		require.Error(t, err)
		require.Equal(t, [2]int{4, 4}, [2]int{f.count("set k"), f.count("incr")})
	})
}

func TestRepliesAndLeases(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx := t.Context()
	t.Run("redis.Nil", func(t *testing.T) {
		if !s.is(redis62) { // NX with GET is a syntax error there
			old, err := s.rdb.SetArgs(ctx, "nil", "me", redis.SetArgs{Mode: "NX", Get: true, TTL: time.Minute}).Result()
			require.Equal(t, redis.Nil, err)
			require.Empty(t, old)
			require.Equal(t, "me", s.ask(t, "GET nil"))
			old, err = s.rdb.SetArgs(ctx, "nil", "other", redis.SetArgs{Mode: "NX", Get: true, TTL: time.Minute}).Result()
			require.NoError(t, err)
			require.Equal(t, "me", old)
		}
		s.play(t, step{"SET taken me", "OK"})
		require.Equal(t, redis.Nil, s.rdb.SetArgs(ctx, "taken", "other", redis.SetArgs{Mode: "NX"}).Err())
		require.NoError(t, s.rdb.SetNX(ctx, "taken", "other", time.Minute).Err())
		for _, script := range []string{"return false", "return nil", "return redis.call('GET', 'missing')"} {
			n, err := s.rdb.Eval(ctx, script, nil).Bool()
			require.Equal(t, redis.Nil, err, script)
			require.False(t, n)
		}
		_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Get(ctx, "missing")
			pipe.Set(ctx, "done", "v", 0)
			return nil
		})
		require.Equal(t, redis.Nil, err)
		s.play(t, step{"GET done", "v"})
	})
	t.Run("leases", func(t *testing.T) {
		require.ErrorContains(t, s.rdb.SetNX(ctx, "a", "me", -5*time.Second).Err(), "ERR invalid expire time")
		require.NoError(t, s.rdb.Set(ctx, "b", "me", -5*time.Second).Err())
		require.NoError(t, s.rdb.SetArgs(ctx, "c", "me", redis.SetArgs{Mode: "NX", TTL: -5 * time.Second}).Err())
		require.NoError(t, s.rdb.SetNX(ctx, "d", "me", -1).Err()) // redis.KeepTTL
		require.NoError(t, s.rdb.SetNX(ctx, "e", "me", 0).Err())
		s.play(t, step{"EXISTS a", 0}, step{"PTTL b", -1}, step{"PTTL c", -1}, step{"PTTL d", -1}, step{"PTTL e", -1})
		require.NoError(t, s.rdb.Set(ctx, "f", "me", time.Hour).Err())
		require.NoError(t, s.rdb.Expire(ctx, "f", 1999*time.Millisecond).Err())
		require.LessOrEqual(t, s.ask(t, "PTTL f"), int64(1000))
		require.NoError(t, s.rdb.Set(ctx, "g", "me", 1999*time.Millisecond).Err())
		require.Greater(t, s.ask(t, "PTTL g"), int64(1500))
		require.Equal(t, time.Duration(-2), s.rdb.PTTL(ctx, "missing").Val())
		require.Equal(t, time.Duration(-1), s.rdb.TTL(ctx, "e").Val())
	})
	t.Run("a subscription takes no place in the pool", func(t *testing.T) {
		rdb := s.client(t, func(o *redis.Options) { o.PoolSize, o.PoolTimeout = 1, time.Second })
		for range 3 {
			sub := rdb.Subscribe(ctx, "c")
			t.Cleanup(func() { _ = sub.Close() })
			_, err := sub.Receive(ctx)
			require.NoError(t, err)
		}
		require.NoError(t, rdb.Ping(ctx).Err())
	})
}

func TestScriptRun(t *testing.T) {
	t.Parallel()
	t.Run("in a pipeline", func(t *testing.T) {
		s := start(t)
		script := redis.NewScript("return 7")
		_, err := s.rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			script.Run(t.Context(), pipe, nil)
			return nil
		})
		require.ErrorContains(t, err, "NOSCRIPT")
	})
	t.Run("a reply that is lost", func(t *testing.T) {
		f := serve(t, map[string]string{"evalsha": "-NOSCRIPT No matching script.", "eval ": ""})
		require.Error(t, redis.NewScript("return 7").Run(t.Context(), f.client(t), nil).Err())
		require.Equal(t, 1, f.count("evalsha"))
		require.Equal(t, 4, f.count("eval "))
		f = serve(t, map[string]string{"evalsha": ""})
		require.Error(t, redis.NewScript("return 7").Run(t.Context(), f.client(t), nil).Err())
		require.Equal(t, 4, f.count("evalsha"))
	})
}

// Channel reports neither a silent server nor a reconnection.
func TestChannel(t *testing.T) {
	t.Parallel()
	s := start(t)
	sub := s.rdb.Subscribe(t.Context(), "c")
	t.Cleanup(func() { _ = sub.Close() })
	messages := sub.ChannelWithSubscriptions()
	next := func() any {
		select {
		case m := <-messages:
			return m
		case <-time.After(within):
			require.Fail(t, "no message")
			return nil
		}
	}
	require.Equal(t, "subscribe", next().(*redis.Subscription).Kind)
	s.play(t, step{"CLIENT KILL TYPE pubsub", 1})
	require.Equal(t, "subscribe", next().(*redis.Subscription).Kind)
	require.EqualValues(t, 1, s.ask(t, "PUBLISH c m"))
	require.Equal(t, "m", next().(*redis.Message).Payload)
}

// A subscription outlives the context of Subscribe, and Receive does not look whether its own has been cancelled.
// Channel pings every three seconds, and does not wait for the answers.
func TestChannelDoesNotNoticeASilentServer(t *testing.T) {
	t.Parallel()
	s := start(t)
	sub := s.rdb.Subscribe(t.Context(), "c")
	t.Cleanup(func() { _ = sub.Close() })
	_, err := sub.Receive(t.Context())
	require.NoError(t, err)
	messages := sub.Channel()
	id := s.ask(t, "CLIENT LIST TYPE pubsub")
	s.Stop()
	time.Sleep(10 * time.Second)
	s.Continue()
	require.EqualValues(t, 1, s.ask(t, "PUBLISH c m"))
	require.Equal(t, "m", (<-messages).Payload)
	first := func(list any) string { return strings.Fields(list.(string))[0] }
	require.Equal(t, first(id), first(s.ask(t, "CLIENT LIST TYPE pubsub")), "it is still the same connection")
}

func TestCancelledContextsOfASubscription(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	sub := s.rdb.Subscribe(ctx, "c")
	t.Cleanup(func() { _ = sub.Close() })
	_, err := sub.Receive(ctx)
	require.NoError(t, err)
	cancel()
	time.AfterFunc(100*time.Millisecond, func() { s.rdb.Publish(t.Context(), "c", "m") })
	message, err := sub.ReceiveMessage(ctx)
	require.NoError(t, err)
	require.Equal(t, "m", message.Payload)

	_, err = sub.ReceiveTimeout(t.Context(), 20*time.Millisecond)
	require.ErrorContains(t, err, "i/o timeout")
	require.EqualValues(t, 1, s.ask(t, "PUBLISH c m"), "it is still subscribed")
	_, err = sub.ReceiveMessage(t.Context())
	require.NoError(t, err)

	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	t.Cleanup(cancel)
	_, err = sub.ReceiveMessage(ctx)
	require.ErrorContains(t, err, "i/o timeout")
	require.Eventually(t, func() bool { return s.rdb.Publish(t.Context(), "c", "m").Val() == 0 }, within, time.Millisecond)
}

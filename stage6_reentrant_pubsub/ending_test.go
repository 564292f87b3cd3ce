package stage6_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestCloseFreesAGrantOnItsWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		m := mutexOf(t, svc, lockName)
		r.Delay("acquire", time.Second)
		w := startLock(m, t.Context())
		require.NoError(t, svc.Close())
		time.Sleep(time.Second)
		synctest.Wait()
		require.ErrorIs(t, (<-w).err, stage6.ErrClosed)
		time.Sleep(3 * time.Second)
		require.False(t, r.Exists(key), "leaked for %v", r.TTL(key))
	})
}

func TestGrantWhileTheServiceClosesIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, "other"), t.Context())
		lock(t, mutexOf(t, svc, "another"), t.Context())
		r.Delay("acquire", time.Second)
		w := startLock(mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", 2*time.Second)
		began := time.Now()
		require.NoError(t, svc.Close())
		took := time.Since(began)
		o := <-w
		require.ErrorIs(t, o.err, stage6.ErrClosed)
		require.Less(t, took, 10*time.Second)
	})
}

func TestContextEndsBeforeTheLockIsFree(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		rdb.AddHook(slowReply{name: r.names, script: "release", by: 3 * time.Second})
		svc, err := stage6.NewService(rdb)
		require.NoError(t, err)
		defer svc.Close()
		h := lock(t, mutexOf(t, svc, lockName), t.Context())
		go h.Unlock()
		time.Sleep(time.Second)
		lock(t, r.Mutex(), t.Context()) // somebody else is inside
		defer time.Sleep(time.Minute)
		require.Error(t, h.Context().Err(), "A's context is alive beside B")
	})
}

func TestReentryBetweenFailedRenewalsExtendsTheHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		n := 0
		rdb := r.Client()
		s := 3 * time.Second
		rdb.AddHook(failRenew{r.names, []time.Duration{s, s, s, s}, &n})
		svc, err := stage6.NewService(rdb)
		require.NoError(t, err)
		defer svc.Close()
		m := mutexOf(t, svc, lockName)
		h := lock(t, m, t.Context())
		time.Sleep(29600 * time.Millisecond) // renewals failed at 13, 18.5, 24, 29.5
		lock(t, m, h.Context())              // the re-entry extends the lease to 59.6
		time.Sleep(time.Second)
		require.NoError(t, h.Context().Err())
	})
}

func TestNilLoggerLogsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		defer func() { require.Nil(t, recover()) }()
		m := r.Mutex(stage6.WithLogger(nil))
		h := lock(t, m, t.Context())
		r.Del(key)
		_ = h.Unlock()
	})
}

func TestUnlockIsRepeatedAfterAPoolTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client(func(o *redis.Options) { o.PoolSize = 1; o.ReadTimeout = time.Hour; o.PoolTimeout = time.Second })
		svc, err := stage6.NewService(rdb)
		require.NoError(t, err)
		defer svc.Close()
		h := lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("PING", 2*time.Second)
		go rdb.Ping(t.Context())
		synctest.Wait()
		_ = h.Unlock()
		time.Sleep(10 * time.Second)
		require.False(t, r.Exists(key), "stays for %v", r.TTL(key))
	})
}

func TestRefusedSubscriptionIsAskedForAgain(t *testing.T) {
	for _, refusal := range []string{
		"LOADING Redis is loading the dataset in memory",
		"NOPERM this user has no permissions to access one of the channels used as arguments",
	} {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			h := lock(t, r.Mutex(), t.Context())
			r.Refuse("SUBSCRIBE", refusal)
			waiting := startLock(r.Mutex(), t.Context())
			time.Sleep(5 * time.Second)
			began := time.Now()
			require.NoError(t, h.Unlock())
			require.Less(t, (<-waiting).at.Sub(began), time.Second)
		})
	}
}

// slowReply delivers the reply to a script late.
type slowReply struct {
	name   map[string]string
	script string
	by     time.Duration
}

func (slowReply) DialHook(next redis.DialHook) redis.DialHook { return next }
func (s slowReply) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if a := cmd.Args(); len(a) > 1 && s.name[str(a[1])] == s.script {
			time.Sleep(s.by)
		}
		return err
	}
}
func (slowReply) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// failRenew makes renewals take their time and then fail.
type failRenew struct {
	name map[string]string
	at   []time.Duration // how long each takes before it fails // each takes so long, then fails
	n    *int
}

func (failRenew) DialHook(next redis.DialHook) redis.DialHook { return next }
func (s failRenew) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if a := cmd.Args(); len(a) > 1 && s.name[str(a[1])] == "renew" && *s.n < len(s.at) {
			d := s.at[*s.n]
			*s.n++
			time.Sleep(d)
			cmd.SetErr(io.EOF)
			return io.EOF
		}
		return next(ctx, cmd)
	}
}
func (failRenew) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func str(x any) string { s, _ := x.(string); return s }

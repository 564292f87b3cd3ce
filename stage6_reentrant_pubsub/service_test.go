package stage6_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestFailures(t *testing.T) {
	failures.Check(t, stages.All[5].Subject, failures.Stage(6))
}

// otherClient is a client of a kind that the lock does not know.
type otherClient struct{ redis.UniversalClient }

func TestNewServiceRefusesAClientOnWhichALockWouldNotWork(t *testing.T) {
	var typedNil *redis.Client
	ring := redis.NewRing(&redis.RingOptions{HeartbeatFrequency: time.Hour})
	defer ring.Close()
	plain := redis.NewClient(&redis.Options{})
	defer plain.Close()
	piped, err := plain.AutoPipeline()
	require.NoError(t, err)
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer cluster.Close()
	failover := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}})
	defer failover.Close()

	const noDeadlines = "stage6: client ignores the deadlines of contexts: set ContextTimeoutEnabled in its options"
	const isNil = "stage6: client is nil: pass what redis.NewClient, NewFailoverClient or NewClusterClient returns"
	tests := []struct {
		client string
		rdb    redis.UniversalClient
		want   string
	}{
		{"nil", nil, isNil},
		{"typed nil", typedNil, isNil},
		{"Ring", ring, "stage6: a Ring spreads keys over servers that know nothing of each other: use one server, Sentinel or Cluster"},
		{"AutoPipeliner", piped, "stage6: an AutoPipeliner ignores the deadlines of contexts: pass the client that it was made from"},
		{"unknown type", otherClient{plain}, "stage6: unknown client stage6_test.otherClient: pass a *redis.Client or *redis.ClusterClient"},
		{"without ContextTimeoutEnabled", plain, noDeadlines},
		{"Cluster without ContextTimeoutEnabled", cluster, noDeadlines},
		{"Sentinel without ContextTimeoutEnabled", failover, noDeadlines},
	}
	for _, test := range tests {
		t.Run(test.client, func(t *testing.T) {
			svc, err := stage6.NewService(test.rdb)
			require.EqualError(t, err, test.want)
			require.Nil(t, svc)
		})
	}
}

func TestNewServiceTakesEveryClientThatLocksCanWorkOn(t *testing.T) {
	clients := map[string]redis.UniversalClient{
		"server":   redis.NewClient(&redis.Options{ContextTimeoutEnabled: true}),
		"Cluster":  redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ContextTimeoutEnabled: true}),
		"Sentinel": redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}, ContextTimeoutEnabled: true}),
	}
	for name, rdb := range clients {
		t.Run(name, func(t *testing.T) {
			defer rdb.Close()
			svc, err := stage6.NewService(rdb)
			require.NoError(t, err)
			require.NoError(t, svc.Close())
		})
	}
}

func TestNewServiceRefusesBadOptions(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer rdb.Close()
	noToken := stage6.DefaultLayout
	noToken.Token = nil
	tests := []struct {
		name string
		opt  stage6.Option
		want string
	}{
		{"watchdog timeout", stage6.WithWatchdogTimeout(29 * time.Millisecond), "stage6: watchdog timeout 29ms is too short: the shortest is 30ms"},
		{"no watchdog timeout", stage6.WithWatchdogTimeout(0), "stage6: watchdog timeout 0s is too short: the shortest is 30ms"},
		{"max hold", stage6.WithMaxHold(-time.Second), "stage6: max hold -1s is negative: leave it out for no limit"},
		{"layout", stage6.WithLayout(noToken), "stage6: layout lacks a function: set Key, Channel and Token"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			svc, err := stage6.NewService(rdb, test.opt)
			require.EqualError(t, err, test.want)
			require.Nil(t, svc)
		})
	}
}

func TestMutexRefusesBadNames(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		_, err := svc.Mutex("")
		require.EqualError(t, err, `stage6: lock name is empty: name what is protected, such as "order:1001"`)
		_, err = svc.Mutex("}order")
		require.EqualError(t, err, `stage6: lock name "}order" starts with }, which empties the hash tag {…}: choose another first character`)
	})
}

func TestNewServiceAndMutexSendNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		r.Mutex()
		require.Empty(t, r.Sent())
	})
}

func TestLayoutNamesKeysAndChannels(t *testing.T) {
	tests := map[string]struct {
		layout              stage6.Layout
		name                string
		key, channel, token string
	}{
		"default":            {stage6.DefaultLayout, "order:1001", "lock:{order:1001}", "lock__channel:{order:1001}", "lock:{order:1001}:token"},
		"Redisson":           {stage6.RedissonLayout, "order:1001", "order:1001", "redisson_lock__channel:{order:1001}", "{order:1001}:token"},
		"Redisson, with tag": {stage6.RedissonLayout, "{order}:1001", "{order}:1001", "redisson_lock__channel:{order}:1001", "{order}:1001:token"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *fakeRedis) {
				m := mutexOf(t, r.Service(stage6.WithLayout(test.layout)), test.name)
				hold := lock(t, m, t.Context())
				require.Equal(t, []string{test.key, test.token}, sorted(r.Keys()))
				waiting := startLock(mutexOf(t, r.Service(stage6.WithLayout(test.layout)), test.name), t.Context())
				require.Equal(t, []string{test.channel}, r.PubSubChannels("*"))
				require.NoError(t, hold.Unlock())
				requireHeld(t, waiting)
			})
		})
	}
}

func TestCloseReleasesWhatTheServiceHolds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		first := lock(t, mutexOf(t, svc, lockName), t.Context())
		inner := lock(t, mutexOf(t, svc, lockName), first.Context())
		second := lock(t, mutexOf(t, svc, "order:1002"), t.Context())
		require.NoError(t, svc.Close())
		for _, hold := range []*stage6.Hold{first, inner, second} {
			require.Equal(t, stage6.ErrClosed, context.Cause(hold.Context()))
			require.ErrorIs(t, hold.Unlock(), stage6.ErrClosed)
			require.ErrorIs(t, hold.Unlock(), stage6.ErrNotHeld)
		}
		require.Equal(t, []string{"lock:{order:1001}:token", "lock:{order:1002}:token"}, sorted(r.Keys()))
	})
}

func TestCloseLetsTheNextProcessIn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, lockName), t.Context())
		waiting := startLock(r.Mutex(), t.Context())
		require.NoError(t, svc.Close())
		requireHeld(t, waiting)
	})
}

func TestCloseEndsThoseWhoWait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		lock(t, r.Mutex(), t.Context())
		svc := r.Service()
		m := mutexOf(t, svc, lockName)
		waiting := []chan outcome{startLock(m, t.Context()), startLock(m, t.Context())}
		require.NoError(t, svc.Close())
		synctest.Wait()
		for _, done := range waiting {
			require.Len(t, done, 1, "at once")
			require.ErrorIs(t, (<-done).err, stage6.ErrClosed)
		}
		require.Equal(t, map[string]int{channel: 0}, r.PubSubNumSub(channel))
	})
}

func TestClosedServiceLocksNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		m := mutexOf(t, svc, lockName)
		require.NoError(t, svc.Close())
		_, err := m.Lock(t.Context())
		require.ErrorIs(t, err, stage6.ErrClosed)
		_, err = m.TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrClosed)
		_, err = m.TryLockFor(t.Context(), time.Second)
		require.ErrorIs(t, err, stage6.ErrClosed)
		require.Empty(t, r.Sent())
	})
}

func TestReentryAfterCloseIsErrClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		m := mutexOf(t, svc, lockName)
		hold := lock(t, m, t.Context())
		require.NoError(t, svc.Close())
		_, err := m.Lock(context.WithoutCancel(hold.Context()))
		require.ErrorIs(t, err, stage6.ErrClosed)
	})
}

func TestClosingTwiceIsNoError(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		require.NoError(t, svc.Close())
		require.NoError(t, svc.Close())
	})
}

func TestCloseLeavesTheClientOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		svc, err := stage6.NewService(rdb)
		require.NoError(t, err)
		require.NoError(t, svc.Close())
		require.NoError(t, rdb.Ping(t.Context()).Err())
	})
}

// Redis answers nothing any more. Close gives up within two leases, and the
// contexts of the holds have ended.
func TestCloseIsBoundedWhenRedisIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		var holds []*stage6.Hold
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			holds = append(holds, lock(t, mutexOf(t, svc, name), t.Context()))
		}
		r.Delay("release", 5*time.Minute)
		began := time.Now()
		_ = svc.Close()
		require.LessOrEqual(t, time.Since(began), 2*lease)
		for _, hold := range holds {
			require.Error(t, hold.Context().Err())
		}
		time.Sleep(10 * time.Minute)
	})
}

package stage6_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

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
	deaf := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true, ReadTimeout: -2})
	defer deaf.Close()
	mute := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ContextTimeoutEnabled: true, WriteTimeout: -2})
	defer mute.Close()

	const noDeadlines = "stage6: client ignores the deadlines of contexts: set ContextTimeoutEnabled in its options"
	const noTimeouts = "stage6: client sets no deadlines on its sockets: its ReadTimeout and WriteTimeout must not be -2"
	const pass = ": pass the *redis.Client or *redis.ClusterClient of one server, Sentinel or Cluster"
	const isNil = "stage6: client is nil: pass what redis.NewClient, NewFailoverClient or NewClusterClient returns"
	tests := []struct {
		client string
		rdb    redis.UniversalClient
		want   string
	}{
		{"nil", nil, isNil},
		{"typed nil", typedNil, isNil},
		{"Ring", ring, "stage6: no lock works on a *redis.Ring" + pass},
		{"AutoPipeliner", piped, "stage6: no lock works on a *redis.AutoPipeliner: it executes a command whose context has ended, and returns no error: pass the client that it was made of"},
		{"unknown type", otherClient{plain}, "stage6: no lock works on a stage6_test.otherClient" + pass},
		{"without ContextTimeoutEnabled", plain, noDeadlines},
		{"Cluster without ContextTimeoutEnabled", cluster, noDeadlines},
		{"Sentinel without ContextTimeoutEnabled", failover, noDeadlines},
		{"without read deadlines", deaf, noTimeouts},
		{"Cluster without write deadlines", mute, noTimeouts},
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
		"blocking": redis.NewClient(&redis.Options{ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1}),
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
	tests := []struct {
		name string
		opt  stage6.Option
		want string
	}{
		{"watchdog timeout", stage6.WithWatchdogTimeout(29 * time.Millisecond), "stage6: watchdog timeout 29ms is too short: the shortest is 30ms"},
		{"no watchdog timeout", stage6.WithWatchdogTimeout(0), "stage6: watchdog timeout 0s is too short: the shortest is 30ms"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			svc, err := stage6.NewService(rdb, test.opt)
			require.EqualError(t, err, test.want)
			require.Nil(t, svc)
		})
	}
}

func TestNilOptionIsRefusedAndTakesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		_, err := stage6.NewService(r.Client(), nil)
		require.EqualError(t, err, "stage6: an option is nil: leave it out")
		svc := r.Service()
		_, err = mutexOf(t, svc, lockName).Lock(t.Context(), nil)
		require.EqualError(t, err, "stage6: an option is nil: leave it out")
		require.Empty(t, r.Sent())
		began := time.Now()
		require.NoError(t, svc.Close())
		require.Zero(t, time.Since(began))
	})
}

func TestMutexRefusesBadNames(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		_, err := svc.Mutex("")
		require.EqualError(t, err, `stage6: lock name is empty: name what is protected, such as "order:1001"`)
	})
}

func TestPrefixNamesKeysAndChannels(t *testing.T) {
	tests := map[string]struct {
		option              stage6.Option
		name                string
		key, channel, token string
	}{
		"default":            {stage6.WithMaxHold(0), "order:1001", "lock:{order:1001}", "lock__channel:{order:1001}", "lock:{order:1001}:token"},
		"prefix lock:":       {stage6.WithPrefix("lock:"), "order:1001", "lock:{order:1001}", "lock__channel:{order:1001}", "lock:{order:1001}:token"},
		"prefix shop:lock:":  {stage6.WithPrefix("shop:lock:"), "order:1001", "shop:lock:{order:1001}", "shop:lock__channel:{order:1001}", "shop:lock:{order:1001}:token"},
		"no prefix":          {stage6.WithPrefix(""), "order:1001", "{order:1001}", "__channel:{order:1001}", "{order:1001}:token"},
		"Redisson":           {stage6.WithRedissonNames(), "order:1001", "order:1001", "redisson_lock__channel:{order:1001}", "{order:1001}:token"},
		"Redisson, with tag": {stage6.WithRedissonNames(), "{order}:1001", "{order}:1001", "redisson_lock__channel:{order}:1001", "{order}:1001:token"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				hold := lock(t, mutexOf(t, r.Service(test.option), test.name), t.Context())
				require.ElementsMatch(t, []string{test.key, test.token}, r.Keys())
				waiting := startLock(mutexOf(t, r.Service(test.option), test.name), t.Context())
				require.Equal(t, []string{test.channel}, r.PubSubChannels("*"))
				require.NoError(t, hold.Unlock())
				requireHeld(t, waiting)
			})
		})
	}
}

// A timer that never fires would keep each closed service in memory.
func TestClosedServiceIsForgotten(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer rdb.Close()
	svc, err := stage6.NewService(rdb)
	require.NoError(t, err)
	closed := weak.Make(svc)
	require.NoError(t, svc.Close())
	for range 10 {
		runtime.GC()
	}
	require.Nil(t, closed.Value())
}

// A process that locks each order once keeps nothing in memory for the orders that it has finished.
func TestQueueOfAnUncontendedLockIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		use := func(name string) weak.Pointer[stage6.Mutex] {
			m := mutexOf(t, svc, name)
			hold, err := m.Lock(t.Context())
			require.NoError(t, err)
			require.NoError(t, hold.Unlock())
			return weak.Make(m)
		}
		first, second := use("order:1"), use("order:2")
		for range 10 {
			runtime.GC()
		}
		require.Nil(t, first.Value())
		require.Nil(t, second.Value())
		runtime.KeepAlive(svc)
	})
}

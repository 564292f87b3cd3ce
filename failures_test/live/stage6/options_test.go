package stage6_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// The lock uses the client as it is. With each of these it holds, renews,
// re-enters, waits and wakes.
func TestLockWorksWithEveryWayToSetUpAClient(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*redis.Options){
		"defaults":              func(*redis.Options) {},
		"no retries":            func(o *redis.Options) { o.MaxRetries = -1 },
		"many retries":          func(o *redis.Options) { o.MaxRetries = 20 },
		"RESP2":                 func(o *redis.Options) { o.Protocol = 2 },
		"another database":      func(o *redis.Options) { o.DB = 7 },
		"no timeouts":           func(o *redis.Options) { o.ReadTimeout, o.WriteTimeout = -1, -1 },
		"one connection":        func(o *redis.Options) { o.PoolSize = 1 },
		"short-lived idle":      func(o *redis.Options) { o.ConnMaxIdleTime, o.ConnMaxLifetime = time.Millisecond, time.Millisecond },
		"impatient pool":        func(o *redis.Options) { o.PoolTimeout = 10 * time.Millisecond },
		"a name of its own":     func(o *redis.Options) { o.ClientName = "orders" },
		"no name of go-redis's": func(o *redis.Options) { o.DisableIdentity = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			require.NoError(t, useEverything(t, s, s.Client(change)))
		})
	}
}

func TestHoldAndWaiterEndWhenTheirClientIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket(), ContextTimeoutEnabled: true})
	m := mutexOn(t, rdb, final.WithWatchdogTimeout(short))
	hold := lock(t, m, t.Context())
	waiting := startLock(t, m)
	s.AwaitWaiters(1)
	require.NoError(t, rdb.Close())
	requireLost(t, hold)
	select {
	case o := <-waiting:
		require.ErrorIs(t, o.err, redis.ErrClosed)
	case <-time.After(soon):
		require.FailNow(t, "it still waits")
	}
}

// Redis has no room for the waiter's connection. It asks again until there is.
func TestWaiterListensOnceThereIsRoomForItsConnection(t *testing.T) {
	t.Parallel()
	s, log := start(t), &log{}
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(endless)), t.Context())
	next := s.Mutex(final.WithWatchdogTimeout(endless), final.WithLogger(log.Logger()))
	_, err := next.TryLock(t.Context())
	require.ErrorIs(t, err, final.ErrLocked)
	s.Config("maxclients", "3") // they are all there: the operator's, the holder's, the waiter's
	waiting := startLock(t, next)
	log.Await(t, "waiting without messages")
	s.Config("maxclients", "100")
	s.AwaitWaiters(1)
	require.NoError(t, hold.Unlock())
	requireHeld(t, waiting)
}

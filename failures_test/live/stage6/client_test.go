package stage6_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/proxy"
	final "lockkata/stage6_reentrant_pubsub"
)

// slow are commands of a user's that keep a connection, or all of Redis, busy.
func slow(d time.Duration) map[string][]any {
	return map[string][]any{
		"a command that waits": {"BLPOP", "empty", d.Seconds()},
		"a sleeping Redis":     {"DEBUG", "SLEEP", d.Seconds()},
		"a long script": {"EVAL", `
			local function now() local t = redis.call("TIME") return t[1] * 1000000 + t[2] end
			local start = now()
			while now() - start < tonumber(ARGV[1]) do end`, 0, d.Microseconds()},
	}
}

// lockOfOneConnection is a lock whose client has one connection, for all.
func lockOfOneConnection(t *testing.T, opts ...final.Option) (*server, *redis.Client, *final.Mutex) {
	t.Helper()
	s := start(t, "--enable-debug-command", "yes")
	rdb := s.Client(func(o *redis.Options) { o.PoolSize = 1 })
	return s, rdb, mutexOn(t, rdb, opts...)
}

// The connection is busy until after the lease: no renewal gets through. The holder
// is told when the lease ends, not when the connection is free again.
func TestHoldIsNoticedAsLostWhenItsOnlyConnectionIsBusyForLonger(t *testing.T) {
	t.Parallel()
	for name, command := range slow(8 * short) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rdb, m := lockOfOneConnection(t, final.WithWatchdogTimeout(short))
			hold := lock(t, m, t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = rdb.Do(t.Context(), command...).Err() // whatever came of it: it took its time
			}()
			select {
			case <-hold.Context().Done():
			case <-done:
				require.Fail(t, "the holder was not told in time")
			}
			requireLost(t, hold)
			<-done
			requireHeld(t, startLock(t, s.Mutex()))
		})
	}
}

// A renewal waits for the connection, gives up, and is sent again.
func TestHoldSurvivesWhenItsOnlyConnectionIsBusyForLess(t *testing.T) {
	t.Parallel()
	commands := slow(lease / 3)
	delete(commands, "a long script") // a sleeping Redis is the same, and leaves the machine alone
	for name, command := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, rdb, m := lockOfOneConnection(t)
			hold := lock(t, m, t.Context())
			for range 3 {
				_ = rdb.Do(t.Context(), command...).Err()
				requireSurvives(t, hold, lease/4)
			}
			require.NoError(t, hold.Unlock())
		})
	}
}

// Waiting takes no connection of the pool: else the holder could not unlock.
func TestWaitersAndHolderShareOneConnection(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := mutexOn(t, s.Client(func(o *redis.Options) { o.PoolSize = 1 }), final.WithWatchdogTimeout(endless))
	hold := lock(t, m, t.Context())
	var waiting []chan outcome
	for range 5 {
		waiting = append(waiting, startLock(t, m))
	}
	s.AwaitWaiters(1)
	require.NoError(t, hold.Unlock())
	for range waiting {
		var next outcome
		select { // in whatever order they came to wait
		case next = <-waiting[0]:
		case next = <-waiting[1]:
		case next = <-waiting[2]:
		case next = <-waiting[3]:
		case next = <-waiting[4]:
		case <-time.After(soon):
			require.FailNow(t, "nobody gets the lock")
		}
		require.NoError(t, next.err)
		require.NoError(t, next.hold.Unlock())
	}
}

// go-redis would send the acquire three times more, each time for a caller who is
// told of an error.
func TestAcquireWhoseReplyIsLostIsSentOnce(t *testing.T) {
	t.Parallel()
	for name, retries := range map[string]int{"default": 0, "many": 9, "none": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			p := s.Proxy()
			m := mutexOn(t, p.Client(t, func(o *redis.Options) { o.MaxRetries = retries }), final.WithWatchdogTimeout(endless))
			p.Next("acquire", proxy.CutReply)
			_, err := m.TryLock(t.Context())
			require.Error(t, err)
			require.NotErrorIs(t, err, final.ErrLocked, "nobody knows that")
			require.Equal(t, 1, p.Count("acquire"))
		})
	}
}

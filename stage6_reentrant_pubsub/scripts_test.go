package stage6_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// eval runs one of the lock's scripts as it stands.
func eval(t *testing.T, rdb *redis.Client, name string, keys []string, args ...any) any {
	t.Helper()
	answer, err := rdb.Eval(t.Context(), source(t, name), keys, args...).Result()
	require.NoError(t, err)
	return answer
}

func TestAcquireMayBeRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb, keys := r.Client(), []string{key, tokenKey}
		token := eval(t, rdb, "acquire", keys, "A:1", 30000, 86400000)
		time.Sleep(time.Second)
		require.Equal(t, token, eval(t, rdb, "acquire", keys, "A:1", 30000, 86400000))
		require.Equal(t, []string{"1"}, r.HoldCounts())
		require.Equal(t, lease, r.TTL(key))
	})
}

func TestAcquireTellsHowLongTheLockIsTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb, keys := r.Client(), []string{key, tokenKey}
		eval(t, rdb, "acquire", keys, "A:1", 30000, 86400000)
		time.Sleep(time.Second)
		require.Equal(t, int64(-29002), eval(t, rdb, "acquire", keys, "B:1", 30000, 86400000))
		require.NoError(t, rdb.Persist(t.Context(), key).Err()) // it has no lease
		require.Equal(t, int64(-1), eval(t, rdb, "acquire", keys, "B:1", 30000, 86400000))
		require.Equal(t, []string{"1"}, r.HoldCounts())
	})
}

func TestCountMayBeRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		eval(t, rdb, "acquire", []string{key, tokenKey}, "A:1", 30000, 86400000)
		for _, count := range []int{2, 2, 3, 3, 1, 1} {
			require.Equal(t, int64(1), eval(t, rdb, "count", []string{key}, "A:1", count, 30000))
			require.Equal(t, []string{formatted(int64(count))}, r.HoldCounts())
		}
	})
}

func TestScriptsOfAStrangerChangeNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		eval(t, rdb, "acquire", []string{key, tokenKey}, "A:1", 30000, 86400000)
		time.Sleep(time.Second)
		before := r.Dump()
		require.Equal(t, int64(0), eval(t, rdb, "count", []string{key}, "B:1", 2, 30000))
		require.Equal(t, int64(0), eval(t, rdb, "release", []string{key}, channel, "B:1"))
		require.Equal(t, []any{int64(0)}, eval(t, rdb, "renew", []string{key}, 30000, "B:1"))
		require.Equal(t, before, r.Dump())
		require.Equal(t, lease-time.Second, r.TTL(key))
	})
}

func TestReleaseMayBeRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		eval(t, rdb, "acquire", []string{key, tokenKey}, "A:1", 30000, 86400000)
		require.Equal(t, int64(1), eval(t, rdb, "release", []string{key}, channel, "A:1"))
		eval(t, rdb, "acquire", []string{key, tokenKey}, "B:1", 30000, 86400000)
		require.Equal(t, int64(0), eval(t, rdb, "release", []string{key}, channel, "A:1"))
		require.Equal(t, []string{"1"}, r.HoldCounts(), "B's")
	})
}

func TestRenewMayBeRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		eval(t, rdb, "acquire", []string{key, tokenKey}, "A:1", 30000, 86400000)
		require.Equal(t, []any{int64(1), int64(0)}, eval(t, rdb, "renew", []string{key, "lock:{gone}"}, 30000, "A:1", "A:2"))
		require.Equal(t, []any{int64(1), int64(0)}, eval(t, rdb, "renew", []string{key, "lock:{gone}"}, 30000, "A:1", "A:2"))
		require.Equal(t, []string{key, tokenKey}, sorted(r.Keys()))
	})
}

func TestForceMayBeRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		eval(t, rdb, "acquire", []string{key, tokenKey}, "A:1", 30000, 86400000)
		require.Equal(t, int64(1), eval(t, rdb, "force", []string{key}, channel))
		require.Equal(t, int64(0), eval(t, rdb, "force", []string{key}, channel))
	})
}

// Redis forgets its scripts after a restart: each has to be sent again whole.
func TestScriptsAreSentWholeWhenRedisDoesNotKnowThem(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		m := r.Mutex()
		forget := func() { require.NoError(t, rdb.ScriptFlush(t.Context()).Err()) }
		forget()
		outer := lock(t, m, t.Context())
		forget()
		inner := lock(t, m, outer.Context())
		forget()
		time.Sleep(lease / 3)
		synctest.Wait()
		require.Equal(t, lease, r.TTL(key))
		forget()
		require.NoError(t, inner.Unlock())
		forget()
		require.NoError(t, outer.Unlock())
		forget()
		freed, err := m.ForceUnlock(t.Context())
		require.NoError(t, err)
		require.False(t, freed)
		for _, name := range scripts {
			require.Positive(t, r.Count("EVAL "+name), name)
		}
	})
}

// TRYAGAIN is what a Cluster answers while a slot is on its way to another node:
// nothing has been applied.
func TestCommandIsSentAgainAfterTryAgain(t *testing.T) {
	const again = "TRYAGAIN Multiple keys request during rehashing of slot"
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		r.Refuse("acquire", again, again)
		lock(t, m, t.Context())
		require.Equal(t, 3, r.Count("acquire"))
	})
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		r.Refuse("acquire", again, again, again, again, again, again)
		_, err := r.Mutex().TryLock(t.Context())
		require.ErrorContains(t, err, "TRYAGAIN", "it gives up after a while")
		require.Equal(t, 6, r.Count("acquire"))
	})
}

// The node that a slot moves to does not know the scripts, and learns none from a
// command that it refuses. What passes must not be taken for what does not.
func TestNodeWithoutTheScriptsSaysThatItsSlotMoves(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		const again = "TRYAGAIN Multiple keys request during rehashing of slot"
		m := r.Mutex()
		byHash := 0
		r.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
			switch command {
			case "EVALSHA":
				if byHash++; byHash == 1 { // the node that the slot leaves knows the script
					c.WriteError(again)
					break
				}
				c.WriteError("NOSCRIPT No matching script. Please use EVAL.")
			case "EVAL":
				c.WriteError(again)
			default:
				return r.hook(c, command, args...)
			}
			return true
		})
		_, err := m.TryLock(t.Context())
		require.ErrorContains(t, err, "TRYAGAIN")
	})
}

// go-redis sends a command again, by default three times, when its connection
// breaks. A lock's command it sends once.
func TestAcquireIsSentOnceByAClientThatRetries(t *testing.T) {
	trace := playWith(t, world.Config{Client: world.DefaultRetries}, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Of(world.OpTryLock, world.Write)).Always().Drop()
		a.TryLock()
	})
	attempts := 0
	for _, e := range trace.Events {
		if e.Kind == world.Sent && e.Op == world.OpTryLock {
			attempts++
		}
	}
	require.Equal(t, 1, attempts)
	require.NotEmpty(t, resultOf(t, trace, "A", world.OpTryLock).Error)
}

package stage6_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// eval runs one of the lock's scripts as it stands.
type eval func(name string, args ...any) any

// inHeldLock runs a test of the scripts: A has taken the lock a second ago.
func inHeldLock(t *testing.T, test func(t *testing.T, r *fakeRedis, eval eval)) {
	t.Helper()
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		run := func(name string, args ...any) any {
			keys := map[string][]string{"acquire": {key, tokenKey}, "renew": {key, "lock:{gone}"}}[name]
			if keys == nil {
				keys = []string{key}
			}
			answer, err := rdb.Eval(t.Context(), source(t, name), keys, args...).Result()
			require.NoError(t, err)
			return answer
		}
		run("acquire", "A:1", 30000)
		time.Sleep(time.Second)
		test(t, r, run)
	})
}

func TestAcquireTellsHowLongTheLockIsTaken(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *fakeRedis, eval eval) {
		require.Equal(t, int64(-29002), eval("acquire", "B:1", 30000))
		require.NoError(t, r.Client().Persist(t.Context(), key).Err()) // it has no lease
		require.Equal(t, int64(-1), eval("acquire", "B:1", 30000))
		require.Equal(t, []string{"1"}, r.HoldCounts())
	})
}

func TestCountMayBeRepeated(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *fakeRedis, eval eval) {
		for _, count := range []int{2, 2, 3, 3, 1, 1} {
			require.Equal(t, int64(1), eval("count", "A:1", count, 30000))
			require.Equal(t, []string{fmt.Sprint(count)}, r.HoldCounts())
		}
	})
}

func TestRenewMayBeRepeated(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *fakeRedis, eval eval) {
		for range 2 {
			require.Equal(t, []any{int64(1), int64(0)}, eval("renew", 30000, "A:1", "A:2"))
			require.Equal(t, lease, r.TTL(key))
		}
		require.Equal(t, []string{key, tokenKey}, r.Keys())
	})
}

func TestReleaseMayBeRepeated(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *fakeRedis, eval eval) {
		require.Equal(t, int64(1), eval("release", channel, "A:1"))
		eval("acquire", "B:1", 30000)
		require.Equal(t, int64(0), eval("release", channel, "A:1"))
		require.Equal(t, []string{"1"}, r.HoldCounts(), "B's")
	})
}

func TestForceTwiceFindsNothing(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *fakeRedis, eval eval) {
		require.Equal(t, int64(1), eval("force", channel))
		require.Equal(t, int64(0), eval("force", channel))
	})
}

func TestScriptsOfAStrangerChangeNothing(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *fakeRedis, eval eval) {
		before := r.Dump()
		require.Equal(t, int64(0), eval("count", "B:1", 2, 30000))
		require.Equal(t, int64(0), eval("release", channel, "B:1"))
		require.Equal(t, []any{int64(0), int64(0)}, eval("renew", 30000, "B:1", "B:1"))
		require.Equal(t, before, r.Dump())
		require.Equal(t, lease-time.Second, r.TTL(key))
	})
}

// The user of Redis may not run one of the commands. No script leaves a lock without a lease, or a
// count that differs from the number of holds.
func TestScriptThatLacksARightLeavesNothingHalf(t *testing.T) {
	for _, denied := range []string{"HLEN", "GET", "TIME", "SET", "PEXPIRE", "HSET", "HEXISTS", "PTTL", "DEL", "PUBLISH"} {
		t.Run(denied, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *fakeRedis) {
				m := r.Mutex()
				var deny atomic.Bool
				r.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
					if deny.Load() && command == denied {
						c.WriteError("ERR The user executing the script can't run this command or subcommand")
						return true
					}
					return false
				})
				deny.Store(true)
				if _, err := m.TryLock(t.Context()); err != nil {
					require.ErrorContains(t, err, "the Redis user lacks a right")
					require.False(t, r.Exists(key))
				}
				r.Del(key)
				deny.Store(false)
				outer := lock(t, m, t.Context())
				deny.Store(true)
				if _, err := m.TryLock(outer.Context()); err != nil {
					require.Equal(t, []string{"1"}, r.HoldCounts())
				}
				_ = outer.Unlock()
				require.True(t, !r.Exists(key) || r.TTL(key) > 0)
			})
		})
	}
}

// Redis is full: it refuses a script whose first write needs memory, and executes the whole of any
// other. No lock is granted, and a holder can still re-enter, renew and unlock.
func TestFullRedisRefusesNothingToAHolder(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		wrote := false // in this script
		r.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
			switch command {
			case "EVAL", "EVALSHA":
				wrote = false
			case "PEXPIRE", "DEL":
				wrote = true
			case "SET", "HSET":
				if !wrote {
					c.WriteError("OOM command not allowed when used memory > 'maxmemory'.")
					return true
				}
			}
			return false
		})
		_, err := mutexOf(t, r.Service(), "other").TryLock(t.Context())
		require.ErrorContains(t, err, "OOM")
		require.False(t, r.Exists("lock:{other}"))
		inner := lock(t, m, outer.Context())
		require.Equal(t, []string{"2"}, r.HoldCounts())
		time.Sleep(lease)
		require.NoError(t, inner.Unlock())
		require.NoError(t, outer.Unlock())
		require.False(t, r.Exists(key))
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
// nothing has been applied. The node that the slot moves to does not know the scripts,
// and learns none from a command that it refuses.
func TestCommandIsSentAgainAfterTryAgain(t *testing.T) {
	const again = "TRYAGAIN Multiple keys request during rehashing of slot"
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		r.Refuse("acquire", again, again)
		require.NoError(t, lock(t, m, t.Context()).Unlock())
		require.Equal(t, 3, r.Count("acquire"))

		r.Forget()
		r.Refuse("acquire", again, again, again)
		_, err := m.TryLock(t.Context())
		require.ErrorContains(t, err, "TRYAGAIN", "it gives up after a while")
		require.Equal(t, 3, r.Count("acquire"))

		const unknown = "NOSCRIPT No matching script. Please use EVAL."
		r.Refuse("acquire", again, unknown, unknown)
		r.Refuse("EVAL acquire", again, again)
		_, err = m.TryLock(t.Context())
		require.ErrorContains(t, err, "TRYAGAIN", "what passes is not taken for what does not")
	})
}

// go-redis sends a command again, by default three times, when its connection
// breaks. A lock's command it sends once.
func TestAcquireIsSentOnceByAClientThatRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client(func(o *redis.Options) { o.MaxRetries = 3 })
		r.Refuse("acquire", "", "", "", "")
		_, err := mutexOf(t, r.ServiceOn(rdb), lockName).TryLock(t.Context())
		require.Error(t, err)
		require.Equal(t, 1, r.Count("acquire"))
	})
}

// The acquire is granted, and its reply is lost: what it got is given back.
func TestAcquireOfUnknownOutcomeIsGivenBack(t *testing.T) {
	run := asLocker.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.TryLock()
		b.TryLock()
	})
	require.NotEmpty(t, run.Returned(t, "A", world.OpTryLock).Result.Error)
	require.True(t, run.Returned(t, "B", world.OpTryLock).Result.Held)
}

// The reply to a re-entry is lost. It is sent once more: the count is absolute.
func TestReentryOfUnknownOutcomeIsRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		r.Refuse("count", "")
		lock(t, m, outer.Context())
		require.Equal(t, []string{"2"}, r.HoldCounts())
	})
}

// A grant that comes too late leaves a key for a whole lease: the Lock frees it, and tries again if
// that fails.
func TestGrantThatCameTooLateDoesNotRefuseTheNextAttempt(t *testing.T) {
	for _, failing := range [][]string{nil, {""}} {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = time.Hour }))
			r.Delay("acquire", lease+time.Second)
			r.Refuse("release", failing...)
			began, trying := time.Now(), make(chan error, 1)
			go func() { _, err := mutexOf(t, svc, lockName).Lock(t.Context()); trying <- err }()
			time.Sleep(10 * time.Second)
			r.Delay("acquire", 0)
			require.NoError(t, <-trying, "nobody else was there")
			require.Less(t, time.Since(began), lease+2*time.Second)
		})
	}
}

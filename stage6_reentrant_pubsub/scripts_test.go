package stage6_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// eval runs one of the lock's scripts directly.
type eval func(name string, args ...any) any

// inHeldLock runs a test of the scripts. A took the lock a second ago.
func inHeldLock(t *testing.T, test func(t *testing.T, r *redisNode, eval eval)) {
	t.Helper()
	inBubble(t, func(t *testing.T, r *redisNode) {
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

// Some clouds refuse a script if a key in it is not written as KEYS[i].
func TestScriptsWriteTheirKeysAsKEYS(t *testing.T) {
	for _, name := range scripts {
		calls := regexp.MustCompile(`redis\.p?call\("(\w+)", ([^,)]+)`).FindAllStringSubmatch(source(t, name), -1)
		require.NotEmpty(t, calls)
		for _, call := range calls {
			if call[1] != "PUBLISH" { // to a channel
				require.Regexp(t, `^KEYS\[`, call[2], name)
			}
		}
	}
}

func TestAcquireTellsHowLongTheLockIsTaken(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *redisNode, eval eval) {
		require.Equal(t, int64(-29002), eval("acquire", "B:1", 30000))
		require.NoError(t, r.Client().Persist(t.Context(), key).Err()) // it has no lease
		require.Equal(t, int64(-1), eval("acquire", "B:1", 30000))
		require.Equal(t, []string{"1"}, r.HoldCounts())
	})
}

func TestCountMayBeRepeated(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *redisNode, eval eval) {
		for _, count := range []int{2, 2, 3, 3, 1, 1} {
			require.Equal(t, int64(1), eval("count", "A:1", count, 30000))
			require.Equal(t, []string{fmt.Sprint(count)}, r.HoldCounts())
		}
	})
}

func TestRenewMayBeRepeated(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *redisNode, eval eval) {
		for range 2 {
			require.Equal(t, []any{int64(1), int64(0)}, eval("renew", "A:1", 30000, "A:2", 30000))
			require.Equal(t, lease, r.TTL(key))
		}
		require.Equal(t, []string{key, tokenKey}, r.Keys())
	})
}

func TestReleaseMayBeRepeated(t *testing.T) {
	inHeldLock(t, func(t *testing.T, r *redisNode, eval eval) {
		require.Equal(t, int64(1), eval("release", channel, "A:1"))
		eval("acquire", "B:1", 30000)
		require.Equal(t, int64(0), eval("release", channel, "A:1"))
		require.Equal(t, []string{"1"}, r.HoldCounts(), "B's")
	})
}

// TRYAGAIN is the answer of a Cluster while a slot is migrating: nothing has been
// applied. The node that the slot moves to does not know the scripts, and learns none
// from a command that it refuses.
func TestCommandIsSentAgainAfterTryAgain(t *testing.T) {
	const again = "TRYAGAIN Multiple keys request during rehashing of slot"
	inBubble(t, func(t *testing.T, r *redisNode) {
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
		r.Refuse("acquire", again, unknown, again, unknown, again)
		_, err = m.TryLock(t.Context())
		require.ErrorContains(t, err, "TRYAGAIN", "a temporary error is not taken for a permanent one")
	})
}

// A grant that comes too late leaves a key for a whole lease. Lock frees it, even if the first try
// fails, and takes the lock.
func TestGrantThatCameTooLateDoesNotRefuseTheNextAttempt(t *testing.T) {
	for _, failing := range [][]string{nil, {""}} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = time.Hour }))
			r.Delay("acquire", lease+time.Second)
			r.Refuse("release", failing...)
			began, trying := time.Now(), make(chan error, 1)
			go func() { _, err := mutexOf(t, svc, lockName).Lock(t.Context()); trying <- err }()
			time.Sleep(10 * time.Second)
			r.Delay("acquire", 0)
			require.NoError(t, <-trying, "no other client wants the lock")
			require.Less(t, time.Since(began), lease+2*time.Second)
		})
	}
}

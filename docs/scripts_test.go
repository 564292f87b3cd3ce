package docs_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// redisOf is an embedded Redis with a clock of its own, and a script from a document.
type redisOf struct {
	t      *testing.T
	server *miniredis.Miniredis
	rdb    *redis.Client
	script *redis.Script
	now    time.Time
}

// scriptUnder returns the first Lua script below an anchor, on an empty Redis.
func scriptUnder(t *testing.T, name, anchor string) *redisOf {
	t.Helper()
	d, server := documentNamed(t, name), miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	r := &redisOf{t: t, server: server, rdb: rdb, now: time.Unix(1_800_000_000, 0)}
	r.pass(0)
	for _, a := range d.anchors {
		for _, f := range d.fences {
			if a.text == anchor && f.line > a.line && f.language == "lua" {
				r.script = redis.NewScript(f.text)
				return r
			}
		}
	}
	require.Fail(t, "no script", "%s#%s", name, anchor)
	return nil
}

// pass lets time pass, for the clock and for the leases.
func (r *redisOf) pass(d time.Duration) {
	r.now = r.now.Add(d)
	r.server.SetTime(r.now)
	r.server.FastForward(d)
}

// answers requires an answer of the script.
func (r *redisOf) answers(want int, keys []string, args ...any) {
	r.t.Helper()
	r.pass(time.Millisecond)
	got, err := r.script.Run(r.t.Context(), r.rdb, keys, args...).Int()
	require.NoError(r.t, err)
	require.Equal(r.t, want, got, "%v", args)
}

// both calls a test with the appendix of each language.
func both(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range []string{"docs/interview/appendix.md", "docs/zh-CN/interview/appendix.md"} {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

func TestSemaphoreScriptAdmitsNAndForgetsTheDead(t *testing.T) {
	both(t, func(t *testing.T, name string) {
		r, keys := scriptUnder(t, name, "waiting-semaphore"), []string{"permits"}
		r.answers(1, keys, "a", 2, 1000)
		r.answers(1, keys, "b", 2, 1000)
		r.answers(0, keys, "c", 2, 1000)
		require.NoError(t, r.rdb.ZRem(t.Context(), "permits", "a").Err())
		r.answers(1, keys, "c", 2, 1000)
		r.pass(997 * time.Millisecond) // b's lease is over, c's is not
		r.answers(1, keys, "d", 2, 1000)
		r.answers(0, keys, "e", 2, 1000)
		r.pass(time.Second)
		require.Empty(t, r.server.Keys(), "the set has a lease")
	})
}

func TestReadWriteScriptAdmitsReadersOrAWriter(t *testing.T) {
	both(t, func(t *testing.T, name string) {
		r, keys := scriptUnder(t, name, "waiting-rw"), []string{"writer", "readers"}
		r.answers(1, keys, "read", "a", 1000)
		r.answers(1, keys, "read", "b", 1000)
		r.answers(0, keys, "write", "c", 1000)
		require.NoError(t, r.rdb.ZRem(t.Context(), "readers", "a", "b").Err())
		r.answers(1, keys, "write", "c", 1000)
		r.answers(0, keys, "read", "a", 1000)
		r.answers(0, keys, "write", "d", 1000)
		r.pass(time.Second) // c has died
		r.answers(1, keys, "read", "a", 1000)
		r.pass(500 * time.Millisecond)
		r.answers(1, keys, "read", "b", 1000)
		r.pass(500 * time.Millisecond) // a has died, b has not
		r.answers(0, keys, "write", "d", 1000)
		r.pass(500 * time.Millisecond)
		r.answers(1, keys, "write", "d", 1000)
	})
}

func TestFairScriptServesInOrderAndDropsTheDead(t *testing.T) {
	both(t, func(t *testing.T, name string) {
		r, keys := scriptUnder(t, name, "waiting-queue"), []string{"lock", "queue", "alive"}
		ask := func(want int, owner string) { r.answers(want, keys, owner, 10_000, 1000) }
		ask(1, "a")
		ask(0, "b")
		ask(0, "c")
		require.NoError(t, r.rdb.Del(t.Context(), "lock").Err())
		ask(0, "c")
		ask(1, "b")
		require.NoError(t, r.rdb.Del(t.Context(), "lock").Err())
		ask(0, "d")
		r.pass(900 * time.Millisecond)
		ask(0, "d")
		r.pass(200 * time.Millisecond) // c has not asked for longer than its patience
		ask(1, "d")
		r.pass(10 * time.Second)
		require.Empty(t, r.server.Keys(), "every key has a lease")
	})
}

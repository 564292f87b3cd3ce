package docs_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// The scripts of the cheat sheet work together: those for a string, and those for a hash. On the
// other kind of key they are errors.
func TestScriptsOfTheCheatSheetWorkTogether(t *testing.T) {
	for _, folder := range []string{"docs/", inChinese} {
		var scripts []string
		for _, f := range documentNamed(t, folder+"cheatsheet.md").fences {
			if f.language == "lua" {
				scripts = append(scripts, f.text)
			}
		}
		require.Len(t, scripts, 6, folder)
		server := miniredis.RunT(t)
		rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
		defer rdb.Close()
		run := func(script string, args ...any) (any, error) {
			return rdb.Eval(t.Context(), script, []string{"K"}, args...).Result()
		}
		returns := func(want any, script string, args ...any) {
			t.Helper()
			got, err := run(script, args...)
			require.NoError(t, err, script)
			require.Equal(t, want, got, script)
		}

		unlock, renew := scripts[0], scripts[1]
		took := rdb.SetNX(t.Context(), "K", "me", 30*time.Second).Val()
		require.True(t, took)
		returns(int64(0), renew, "other", 60_000)
		returns(int64(1), renew, "me", 60_000)
		require.Equal(t, time.Minute, server.TTL("K"))
		returns(int64(0), unlock, "other")
		_, err := run(scripts[2], "me", 30_000)
		require.ErrorContains(t, err, "WRONGTYPE")
		returns(int64(1), unlock, "me")
		require.False(t, server.Exists("K"))

		take, count, lastUnlock, renewHash := scripts[2], scripts[3], scripts[4], scripts[5]
		_, err = run(take, "me", "30s")
		require.Error(t, err)
		require.False(t, server.Exists("K"), "a key without a lease")
		for range 2 { // it may be sent twice
			_, err = run(take, "me", 30_000)
			require.ErrorIs(t, err, redis.Nil)
		}
		returns(int64(30_000), take, "other", 30_000)
		returns(int64(0), count, "other", 30_000, 2)
		returns(int64(1), count, "me", 30_000, 2)
		require.Equal(t, "2", server.HGet("K", "me"))
		returns(int64(1), count, "me", 30_000, 1) // the inner unlock
		returns(int64(0), renewHash, "other", 60_000)
		returns(int64(1), renewHash, "me", 60_000)
		require.Equal(t, time.Minute, server.TTL("K"))
		for _, wrong := range []string{unlock, renew} {
			_, err = run(wrong, "me", 30_000)
			require.ErrorContains(t, err, "WRONGTYPE")
		}
		returns(int64(0), lastUnlock, "other")
		returns(int64(1), lastUnlock, "me")
		returns(int64(0), count, "me", 30_000, 1) // a copy of the inner unlock comes late
		require.False(t, server.Exists("K"))
	}
}

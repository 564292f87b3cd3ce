package stage6_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// foreign are commands that write a key of another type in place of the lock.
var foreign = map[string][]any{
	"string": {"SET", key, "a lock of stage 5"}, "list": {"RPUSH", key, "an order"}, "set": {"SADD", key, "an order"},
}

// eachForeign runs a test for every kind of key that is no lock.
func eachForeign(t *testing.T, test func(t *testing.T, r *redisNode, put func())) {
	for kind, put := range foreign {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				test(t, r, func() {
					r.Del(key)
					require.NoError(t, r.Client().Do(t.Context(), put...).Err())
				})
			})
		})
	}
}

// requireExplained asserts one line that names the problem, and an unchanged
// key.
func requireExplained(t *testing.T, r *redisNode, before string, err error) {
	t.Helper()
	require.ErrorContains(t, err, ": the key holds no lock of this kind, but something else, such as a lock of another library: ")
	require.ErrorContains(t, err, "WRONGTYPE")
	require.NotContains(t, err.Error(), "\n")
	require.NotErrorIs(t, err, stage6.ErrLocked)
	require.Equal(t, before, r.Dump())
}

func TestKeyThatIsNoHashIsExplained(t *testing.T) {
	eachForeign(t, func(t *testing.T, r *redisNode, put func()) {
		put()
		before, m := r.Dump(), r.Mutex()
		for _, take := range ways {
			_, err := take(m, t.Context())
			requireExplained(t, r, before, err)
		}
		require.Len(t, r.Sent(), len(ways), "Redis said no: there is nothing to clean up or to wait for")
		freed, err := m.ForceUnlock(t.Context())
		require.False(t, freed)
		requireExplained(t, r, before, err)
	})
}

func TestReentryAndHoldCountExplainAKeyThatIsNoLongerALock(t *testing.T) {
	eachForeign(t, func(t *testing.T, r *redisNode, put func()) {
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		put()
		before := r.Dump()
		_, err := m.HoldCount(hold.Context())
		requireExplained(t, r, before, err)
		_, err = m.Lock(hold.Context())
		requireExplained(t, r, before, err)
		require.ErrorIs(t, err, stage6.ErrLost)
		require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
		count, err := m.HoldCount(t.Context())
		require.NoError(t, err)
		require.Zero(t, count, "the context carries no hold")
	})
}

// The token's key holds something else. No client gets the lock without a token.
func TestTokenThatIsNoTokenIsAnErrorAndNoHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		for _, text := range []string{
			"zebra", "", "1,5", "nil", "nan", "inf", "1e300", "-5", "1.5", "0x10", "9007199254740991", "99999999999999999999",
		} {
			require.NoError(t, r.Set(tokenKey, text))
			_, err := m.TryLock(t.Context())
			require.ErrorContains(t, err, "stage6: lock "+key+": BADTOKEN the fencing token in Redis cannot be right: delete its key", text)
			require.False(t, r.Exists(key), "nothing was written")
			last, err := r.Get(tokenKey)
			require.NoError(t, err)
			require.Equal(t, text, last)
		}
		require.NoError(t, r.Set(tokenKey, "9007199254740990"))
		hold := lock(t, m, t.Context())
		require.EqualValues(t, 1<<53-1, hold.Token(), "the highest token that Lua counts exactly")
		require.NoError(t, hold.Unlock())
		_, err := m.TryLock(t.Context())
		require.ErrorContains(t, err, "cannot be right")
		r.Del(tokenKey)
		_, err = r.Push(tokenKey, "an order")
		require.NoError(t, err)
		_, err = m.TryLock(t.Context())
		require.ErrorContains(t, err, "WRONGTYPE")
		require.False(t, r.Exists(key), "nothing was written")
	})
}

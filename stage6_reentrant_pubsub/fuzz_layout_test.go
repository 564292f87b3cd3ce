package stage6_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// FuzzLayout locks with layouts of any shape. Whatever the functions return, the
// lock is refused, or an error, or kept: nobody gets in beside a holder, nothing
// panics, and every call comes back.
func FuzzLayout(f *testing.F) {
	f.Add("lock:{", "}", "channel:", "", "lock:{", "}:token", "order:1001")
	f.Add("", "", "", "", "", "", "order:1001") // one key for the lock and its token
	f.Add("{", "}", "c", "c", "{", "}:token", "a}b")
	f.Add("a", "", "", "", "", "b", "\xff\n")
	f.Add("lock", "", "lock", "", "", "lock", "0")
	f.Fuzz(func(t *testing.T, key1, key2, channel1, channel2, token1, token2, name string) {
		around := func(before, after string) func(string) string {
			return func(name string) string { return before + name + after }
		}
		layout := stage6.Layout{Key: around(key1, key2), Channel: around(channel1, channel2), Token: around(token1, token2)}
		inQuietBubble(t, func(t *testing.T, r *fakeRedis) {
			t.Cleanup(synctest.Wait) // as in FuzzReply
			a, err := r.Service(stage6.WithLayout(layout)).Mutex(name)
			b, errB := r.Service(stage6.WithLayout(layout)).Mutex(name)
			require.Equal(t, err, errB)
			if err != nil {
				require.NotContains(t, err.Error(), "\n")
				return
			}
			hold, err := a.TryLock(t.Context())
			if err != nil {
				return
			}
			second, err := b.TryLock(t.Context())
			require.Error(t, err)
			require.Nil(t, second, "two are inside")
			if layout.Key(name) == layout.Token(name) {
				_ = hold.Unlock() // the token has overwritten the lock
				return
			}
			waiting := make(chan error, 1)
			go func() {
				_, err := b.TryLockFor(t.Context(), 5*time.Second)
				waiting <- err
			}()
			time.Sleep(time.Second)
			require.Empty(t, waiting)
			require.NoError(t, hold.Unlock())
			synctest.Wait()
			require.Len(t, waiting, 1, "it should have the lock by now")
			require.NoError(t, <-waiting)
		})
	})
}

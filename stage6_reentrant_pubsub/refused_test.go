package stage6_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestForceUnlockOfAKeyThatIsNoLockIsExplained(t *testing.T) {
	eachForeign(t, func(t *testing.T, r *fakeRedis, put func()) {
		put()
		before := r.Dump()
		freed, err := r.Mutex().ForceUnlock(t.Context())
		require.False(t, freed)
		requireExplained(t, r, before, err)
	})
}

func TestNilOptionsAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		_, err := stage6.NewService(r.Client(), nil)
		require.EqualError(t, err, "stage6: option is nil: leave it out")
		var none stage6.LockOption
		_, err = r.Mutex().Lock(t.Context(), none)
		require.EqualError(t, err, "stage6: option is nil: leave it out")
		require.Empty(t, r.Sent())
	})
}

func TestLayoutThatCannotWorkIsRefused(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer rdb.Close()
	always := func(text string) func(string) string { return func(string) string { return text } }
	for _, test := range []struct{ key, channel, token string }{{"", "c", "t"}, {"k", "", "t"}, {"k", "c", ""}, {"k", "c", "k"}} {
		layout := stage6.Layout{Key: always(test.key), Channel: always(test.channel), Token: always(test.token)}
		svc, err := stage6.NewService(rdb, stage6.WithLayout(layout))
		require.NoError(t, err)
		_, err = svc.Mutex("order")
		require.ErrorContains(t, err, "the layout gives no name, or one name to two things")
		require.NoError(t, svc.Close())
	}
}

package stage6

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Two keys with one hash tag are in one slot.
func TestHashTag(t *testing.T) {
	for key, want := range map[string]string{
		"lock:{order:1001}":    "order:1001",
		"foo":                  "foo",
		"{user1000}.following": "user1000",
		"foo{}{bar}":           "foo{}{bar}", // an empty tag is none
		"foo{{bar}}zap":        "{bar",
		"foo{bar}{zap}":        "bar",  // the first tag counts
		"bar{":                 "bar{", // no tag without its end
		"b}ar":                 "b}ar",
		"":                     "",
	} {
		require.Equal(t, want, hashTag(key), key)
	}
}

func TestNamesThatNeedTwoSlotsAreRefusedInACluster(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ContextTimeoutEnabled: true})
	single := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true})
	t.Cleanup(func() { require.NoError(t, cluster.Close()); require.NoError(t, single.Close()) })
	mutex := func(rdb redis.UniversalClient, layout Layout, name string) error {
		svc, err := NewService(rdb, WithLayout(layout))
		require.NoError(t, err)
		defer svc.Close()
		_, err = svc.Mutex(name)
		return err
	}
	for _, name := range []string{"a{b", "{}x", "{}", "{"} {
		require.ErrorContains(t, mutex(cluster, RedissonLayout, name), "different slots of the Cluster")
		require.NoError(t, mutex(single, RedissonLayout, name))
	}
	require.NoError(t, mutex(cluster, RedissonLayout, "{order}:1"))
	elsewhere := DefaultLayout
	elsewhere.Channel = func(string) string { return "channel" } // it may be anywhere
	require.NoError(t, mutex(cluster, elsewhere, "order:1001"))
}

// Lock and token have to be in one slot, whatever the name.
func TestLockAndTokenAreInOneSlot(t *testing.T) {
	for _, name := range []string{"order:1001", "{order}:1001", "a}b", "a{b", "a{b}c", "{}", "{", " "} {
		require.Equal(t, hashTag(DefaultLayout.Key(name)), hashTag(DefaultLayout.Token(name)), name)
	}
	for _, name := range []string{"order:1001", "{order}:1001", "a{b}c"} {
		require.Equal(t, hashTag(RedissonLayout.Key(name)), hashTag(RedissonLayout.Token(name)), name)
	}
}

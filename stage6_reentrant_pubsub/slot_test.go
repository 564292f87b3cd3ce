package stage6

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// The numbers are what CLUSTER KEYSLOT answers.
func TestSlot(t *testing.T) {
	for key, want := range map[string]uint16{
		"lock:{order:1001}":    241,
		"123456789":            12739, // the check value of CRC16/XMODEM is 0x31C3
		"foo":                  12182,
		"bar":                  5061,
		"somekey":              11058,
		"foo{hash_tag}":        2515,
		"{user1000}.following": 3443,
		"{user1000}.followers": 3443,
		"foo{}{bar}":           8363,  // an empty tag is none
		"foo{{bar}}zap":        4015,  // the tag is "{bar"
		"foo{bar}{zap}":        5061,  // the first tag counts
		"bar{":                 14630, // no tag without its end
	} {
		require.Equal(t, want, slot(key), key)
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
		require.Equal(t, slot(DefaultLayout.Key(name)), slot(DefaultLayout.Token(name)), name)
	}
	for _, name := range []string{"order:1001", "{order}:1001", "a{b}c"} {
		require.Equal(t, slot(RedissonLayout.Key(name)), slot(RedissonLayout.Token(name)), name)
	}
}

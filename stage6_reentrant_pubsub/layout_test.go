package stage6_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// To Redisson's waiters a lock is free when the message is 0.
func TestUnlockAndForceUnlockPublishRedissonsMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		sub := r.Client().Subscribe(t.Context(), channel)
		defer sub.Close()
		_, err := sub.Receive(t.Context()) // the acknowledgement
		require.NoError(t, err)
		m := r.Mutex()
		for _, free := range []func(*stage6.Hold) error{
			(*stage6.Hold).Unlock,
			func(*stage6.Hold) error { _, err := m.ForceUnlock(t.Context()); return err },
		} {
			require.NoError(t, free(lock(t, m, t.Context())))
			message, err := sub.ReceiveMessage(t.Context())
			require.NoError(t, err)
			require.Equal(t, "0", message.Payload)
		}
	})
}

// Lock and token have to be in one slot, for any name.
func TestLockAndTokenAreInOneSlot(t *testing.T) {
	hashTag := func(key string) string { // the part that decides about the slot
		_, after, _ := strings.Cut(key, "{")
		if tag, _, closed := strings.Cut(after, "}"); closed && tag != "" {
			return tag
		}
		return key
	}
	for _, test := range []struct {
		option stage6.Option
		names  []string
	}{
		{stage6.WithPrefix("lock:"), []string{"order:1001", "{order}:1001", "a}b", "a{b", "a{b}c", "{}", "{", " "}},
		{stage6.WithRedissonNames(), []string{"order:1001", "{order}:1001", "a{b}c"}},
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			for _, name := range test.names {
				lock(t, mutexOf(t, r.Service(test.option), name), t.Context())
				keys := r.Keys()
				require.Len(t, keys, 2)
				require.Equal(t, hashTag(keys[0]), hashTag(keys[1]), name)
				r.FlushAll()
			}
		})
	}
}

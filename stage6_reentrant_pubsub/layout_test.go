package stage6_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// hashTag returns the part of a key that decides about its slot in a Cluster: the
// text in its first braces, or all of it.
func hashTag(key string) string {
	_, after, _ := strings.Cut(key, "{")
	if tag, _, closed := strings.Cut(after, "}"); closed && tag != "" {
		return tag
	}
	return key
}

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
	for _, name := range []string{"order:1001", "{order}:1001", "a}b", "a{b", "a{b}c", "{}", "{", " "} {
		key, token, _ := layouts["default"].names(name)
		require.Equal(t, hashTag(key), hashTag(token), name)
	}
	for _, name := range []string{"order:1001", "{order}:1001", "a{b}c"} {
		key, token, _ := layouts["Redisson"].names(name)
		require.Equal(t, hashTag(key), hashTag(token), name)
	}
}

package stage6_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// hashTag is what of a key decides about its slot in a Cluster: what is in its first
// braces, or all of it.
func hashTag(key string) string {
	_, after, _ := strings.Cut(key, "{")
	if tag, _, closed := strings.Cut(after, "}"); closed && tag != "" {
		return tag
	}
	return key
}

// Lock and token have to be in one slot, whatever the name.
func TestLockAndTokenAreInOneSlot(t *testing.T) {
	for _, name := range []string{"order:1001", "{order}:1001", "a}b", "a{b", "a{b}c", "{}", "{", " "} {
		require.Equal(t, hashTag(stage6.DefaultLayout.Key(name)), hashTag(stage6.DefaultLayout.Token(name)), name)
	}
	for _, name := range []string{"order:1001", "{order}:1001", "a{b}c"} {
		require.Equal(t, hashTag(stage6.RedissonLayout.Key(name)), hashTag(stage6.RedissonLayout.Token(name)), name)
	}
}

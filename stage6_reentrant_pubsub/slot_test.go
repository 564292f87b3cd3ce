package stage6

import (
	"testing"

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

// Lock and token have to be in one slot, whatever the name.
func TestLockAndTokenAreInOneSlot(t *testing.T) {
	for _, name := range []string{"order:1001", "{order}:1001", "a}b", "a{b", "a{b}c", "{}", "{", " "} {
		require.Equal(t, slot(DefaultLayout.Key(name)), slot(DefaultLayout.Token(name)), name)
	}
	for _, name := range []string{"order:1001", "{order}:1001", "a{b}c"} {
		require.Equal(t, slot(RedissonLayout.Key(name)), slot(RedissonLayout.Token(name)), name)
	}
}

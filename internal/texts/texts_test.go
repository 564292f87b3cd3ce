package texts

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPartsArePutIn(t *testing.T) {
	gives := Text("{a} gives {b} to {a}")
	require.Equal(t, "A gives {a} to A", gives.In(English, "a", "A", "b", "{a}"))
	require.Equal(t, "A gives it to A", gives.With("a", "A", "b", Text("it")).In(Chinese), "without a translation it is English")
	require.Equal(t, "1 step", Plural{"{n} step", "{n} steps"}.In(English, 1))
	require.Equal(t, "3 steps", Plural{"{n} step", "{n} steps"}.In(English, 3))
}

var hole = regexp.MustCompile(`\{[a-z]+\}`)

// A translation says the same parts.
func TestTranslationsHaveTheSameParts(t *testing.T) {
	for english, chinese := range chinese() {
		require.Equal(t, parts(string(english)), parts(chinese), "%s", english)
	}
}

func parts(text string) []string {
	found := hole.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

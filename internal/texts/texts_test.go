package texts_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "lockkata/internal/cli" // with all that it says
	"lockkata/internal/texts"
)

func TestPartsArePutIn(t *testing.T) {
	gives := texts.Text("{a} gives {b} to {a}")
	require.Equal(t, "A gives {a} to A", gives.In(texts.English, "a", "A", "b", "{a}"))
	require.Equal(t, "A gives it to A", gives.With("a", "A", "b", texts.Text("it")).In(texts.Chinese), "without a translation it is English")
	steps := texts.Plural{One: "{n} step", Many: "{n} steps"}
	require.Equal(t, "1 step", steps.Of(1).In(texts.English))
	require.Equal(t, "A gives 3 steps to A", gives.In(texts.English, "a", "A", "b", steps.Of(3)))
	require.Equal(t, []string{"初级", "B"}, texts.Each(texts.Chinese, "junior", "B"))
}

func TestEveryTextHasATranslation(t *testing.T) {
	missing := slices.DeleteFunc(texts.Known(), func(text texts.Text) bool { return texts.Translations()[text] != "" })
	require.Empty(t, missing, "translate these in internal/texts/zh.json")
}

func TestEveryTranslationIsUsed(t *testing.T) {
	for text := range texts.Translations() {
		require.True(t, slices.Contains(texts.Known(), text), "no longer used: take it out of internal/texts/zh.json: %s", text)
	}
}

var part = regexp.MustCompile(`\{[a-z]+\}`)

func TestTranslationsHaveTheSameParts(t *testing.T) {
	raw, err := os.ReadFile("zh.json")
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(raw), "\n  \""), len(texts.Translations()), "a text is translated twice")
	for english, chinese := range texts.Translations() {
		require.Equal(t, parts(string(english)), parts(chinese), "%s", english)
	}
}

func parts(text string) []string {
	found := part.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

package i18n_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "lockkata/internal/cli" // registers its texts
	"lockkata/internal/i18n"
)

func TestValuesReplaceTheirNames(t *testing.T) {
	gives := i18n.Text("{a} gives {b} to {a}")
	require.Equal(t, "A gives {a} to A", gives.Localize(i18n.English, "a", "A", "b", "{a}"))
	require.Equal(t, "A gives it to A", gives.Args("a", "A", "b", i18n.Text("it")).Localize(i18n.Chinese), "without a translation it is English")
	steps := i18n.Plural{One: "{n} step", Many: "{n} steps"}
	require.Equal(t, "1 step", steps.Of(1).Localize(i18n.English))
	require.Equal(t, "A gives 3 steps to A", gives.Localize(i18n.English, "a", "A", "b", steps.Of(3)))
	require.Equal(t, []string{"初级", "B"}, i18n.Each(i18n.Chinese, "junior", "B"))
}

func TestNoSpaceBetweenChineseWords(t *testing.T) {
	reads := i18n.Text("{client} reads {what} again")
	i18n.Translations()[reads] = "{client} 再次读到 {what} 之后"
	defer delete(i18n.Translations(), reads)
	require.Equal(t, "A 再次读到 nil 之后", reads.Localize(i18n.Chinese, "client", "A", "what", "nil"))
	require.Equal(t, "他再次读到回复之后", reads.Localize(i18n.Chinese, "client", "他", "what", "回复"))
	require.Equal(t, "他 reads 回复 again", reads.Localize(i18n.English, "client", "他", "what", "回复"))
}

// A list of keys has spaces on purpose.
var listOfKeys = regexp.MustCompile(`(回车|空格|点击) \p{Han}`)

func TestTranslationsHaveNoSpaceBetweenChineseWords(t *testing.T) {
	between := regexp.MustCompile(`\p{Han} \p{Han}`)
	for english, chinese := range i18n.Translations() {
		require.NotRegexp(t, between, listOfKeys.ReplaceAllString(chinese, ""), string(english))
	}
}

func TestEveryTextHasATranslation(t *testing.T) {
	missing := slices.DeleteFunc(i18n.Known(), func(text i18n.Text) bool { return i18n.Translations()[text] != "" })
	require.Empty(t, missing, "translate these in internal/i18n/zh.json, or write %q there", i18n.Pending)
	pending := 0
	for _, chinese := range i18n.Translations() {
		if chinese == i18n.Pending {
			pending++
		}
	}
	t.Logf("%d texts wait for their Chinese translation", pending)
}

func TestPendingTextIsShownInEnglish(t *testing.T) {
	const text = "no translation yet: {a}"
	i18n.Translations()[text] = i18n.Pending
	defer delete(i18n.Translations(), text)
	require.Equal(t, "no translation yet: A", i18n.Text(text).Localize(i18n.Chinese, "a", "A"))
}

func TestEveryTranslationIsUsed(t *testing.T) {
	known := i18n.Known()
	for text := range i18n.Translations() {
		require.True(t, slices.Contains(known, text), "no longer used: take it out of internal/i18n/zh.json: %s", text)
	}
}

var part = regexp.MustCompile(`\{[a-z]+\}`)

func TestTranslationsHaveTheSameParts(t *testing.T) {
	raw, err := os.ReadFile("zh.json")
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(raw), "\n  \""), len(i18n.Translations()), "a text is translated twice")
	for english, chinese := range i18n.Translations() {
		if chinese == i18n.Pending {
			continue
		}
		require.Equal(t, parts(string(english)), parts(chinese), "%s", english)
	}
}

func parts(text string) []string {
	found := part.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestTextsOfAScriptAreFound(t *testing.T) {
	const script = `a = say('step {n} of {all}', {n, all}); b = tell('ledger', x); c = essay('no'); d = say("no"); e = say(name)`
	require.Equal(t, []i18n.Text{"step {n} of {all}", "ledger"}, i18n.OfScript(script))
	require.Equal(t, map[string]string{"ledger": "账本"}, i18n.Dictionary(i18n.Chinese, "ledger", "go run ."), "without what is the same")
	require.Empty(t, i18n.Dictionary(i18n.English, "ledger"))
}

// A page looks texts up by the English, so an English text can have one translation only.
func TestTextWithTwoTranslationsIsReported(t *testing.T) {
	put := map[string]string{}
	side := func(a, b, c string) any { return map[string]any{"a": a, "list": []any{b, c}, "n": 1.0} }
	require.Empty(t, i18n.Pairs(put, side("lease", "key", "key"), side("租约", "key", "key")))
	require.Equal(t, map[string]string{"lease": "租约"}, put)
	require.Equal(t, []string{"lease"}, i18n.Pairs(put, side("key", "lease", "key"), side("key", "租金", "key")))
	require.Equal(t, "租约", put["lease"], "the first stays")
}

package i18n_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

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

package browser

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// edit replaces a piece of what is in the editor, as typing does.
func (b *tab) edit(old, now string) {
	b.t.Helper()
	words, err := json.Marshal([]string{old, now})
	require.NoError(b.t, err)
	b.eval(`(([old, now]) => {
		const text = document.querySelector('.editor textarea');
		if (!text.value.includes(old)) throw new Error('there is no ' + old);
		text.value = text.value.replace(old, now);
		text.dispatchEvent(new Event('input'));
	})(` + string(words) + `)`)
}

// grade grades what is in the editor.
func (b *tab) grade() {
	b.t.Helper()
	b.click(".write-view .turns button:nth-child(1)")
	b.until("document.querySelector('.write-view .column li') || document.querySelector('.wrong li')")
}

func TestLockIsWrittenGradedMendedAndPlayed(t *testing.T) {
	playgrounds(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		b.click(`a[href="#write/3"]`)
		b.until("document.querySelector('.editor textarea')")
		b.edit(`"NX", `, "")
		b.grade()
		require.Equal(t, "✗", b.text(`a[href="#write/3/second-client"]`))
		require.Contains(t, b.text(".confirm"), "go run . grade mine")
		require.True(t, b.isShown(".column .sure"))

		b.edit("m.value = value\n", "m.value = valu\n")
		require.Zero(t, b.count(".column li"), "what was known is of another lock")
		b.grade()
		require.Contains(t, b.text(".wrong"), "undefined: valu")
		b.click(".wrong button")
		require.Equal(t, "\tm.value = valu", value[string](b, "(() => { const a = document.activeElement; return a.value.slice(a.selectionStart, a.selectionEnd); })()"))
		b.edit("m.value = valu\n", "for {\n\t}\n")
		b.grade()
		require.Contains(t, b.text(".wrong"), "an endless loop")
		b.edit("for {\n\t}\n", "m.value = value\n")

		b.click(".write-view .search")
		b.until("document.querySelector('.found .see')")
		b.click(".found .see")
		b.until("document.querySelector('.ending')")
		require.Contains(t, b.text(".ending"), "The goal is reached.")
		b.click(`.choose a[href="#write/3"]`)
		b.until("document.querySelector('.editor textarea')")
		b.edit(`value, "PX"`, `value, "NX", "PX"`)
		b.edit("m.value = value\n", "println(\"taken\", 3)\n\tm.value = value\n")
		b.grade()
		require.Equal(t, "✓", b.text(`a[href="#write/3/second-client"]`), "it is mended")
		require.Contains(t, b.text(".printed"), "Your lock has printed:\n\ntaken 3\n")
	})
}

package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// unfocused focuses all that Tab reaches, and returns what then has no outline of its own, or one that is cut off.
const unfocused = `(() => {
	const name = (e) => e.tagName + ' ' + e.className + ' ' + (e.getAttribute('aria-label') || e.innerText).slice(0, 30) ;
	const outline = (e) => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth, s.outlineOffset].join(' '); };
	const isCut = (e) => {
		const [width, offset] = ['outlineWidth', 'outlineOffset'].map((field) => parseFloat(getComputedStyle(e)[field]));
		const out = offset + width / 2; // the middle of the line
		const {left, right, top, bottom} = e.getBoundingClientRect();
		for (let box = e.parentElement; box; box = box.parentElement) {
			if (getComputedStyle(box).overflow === 'visible') continue;
			const clip = box.getBoundingClientRect();
			const cut = [left - out < clip.left, right + out > clip.right, top - out < clip.top, bottom + out > clip.bottom];
			if (cut.filter(Boolean).length > 1) return true; // one side may scroll
		}
	};
	const stops = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
		.filter((e) => e.tabIndex >= 0 && !e.disabled && !e.closest('dialog:not([open])') && e.checkVisibility({visibilityProperty: true}));
	return stops.filter((e) => {
		document.activeElement.blur();
		const before = outline(e);
		e.focus();
		return e !== document.activeElement || outline(e) === before || !outline(e).startsWith('solid 3px') || isCut(e);
	}).map(name).concat(stops.length < 5 ? 'only ' + stops.length : []);
})()`

func TestFocusIsVisibleInEveryState(t *testing.T) {
	b := open(t, oneFile(t), wide, high)
	b.eval("engine.wanted = true, 0")
	look := func(hash, ready string, keys ...string) {
		t.Helper()
		b.eval("location.hash = '', 0")
		b.until("document.querySelector('.home')")
		b.eval("location.hash = '" + hash + "', 0")
		b.until("document.querySelector('" + ready + "')")
		b.press(keys...)
		b.press("t") // a key, so that focus is shown
		require.Empty(t, value[[]string](b, unfocused), "%s %q", hash, keys)
	}
	look("", ".home")
	look("#learn/3", ".learn-choices")
	look("#learn/3", ".learn-choices", "1", " ")
	look("#check-then-delete/3", ".player")
	look("#check-then-delete/3", ".player", kb.End)
	look("#check-then-delete/3..4", ".player", kb.End)
	look("#check-then-delete/3", ".player", "p", "p")
	look("#break/2", ".column li")
	look("#break/2/nx-dropped", ".column .turned")
	b.click(".search")
	look("#break/2/nx-dropped", ".see")
	look("#break/2/nx-dropped/delete-foreign", ".controls .take", kb.End)
	look("#play/3", ".option")
	look("#play/4", ".option", "1", "h")
	look("#nothing", ".ways")
	b.eval("localStorage.clear()")
}

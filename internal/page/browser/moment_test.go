package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

// Another stage, or a comparison, opens at the same moment of the run.
func TestOtherStagesStartAtTheSameMoment(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3/step-9", wide, high)
	says := b.text(".says")
	require.Equal(t, "#check-then-delete/3/step-9", b.hash())
	b.press("b")
	require.Equal(t, says, b.sentences()[0])
	b.press("b")
	require.Equal(t, "#check-then-delete/3/step-9", b.hash(), "and back")
	b.press("n")
	require.Equal(t, says, b.text(".says"), "the same event on stage 4")
	b.click(`.choose a[href="#check-then-delete/2"]`)
	require.Equal(t, says, b.text(".says"))
	b.click(`.choose a[href="#check-then-delete/2"]`)
	require.Equal(t, says, b.text(".says"), "a click on the same stage changes nothing")

	b.press(kb.End, "n")
	require.False(t, b.isShown(".verdict"), "the end of another run is not told")
	b.press(kb.ArrowRight)
	require.True(t, b.isShown(".verdict"))
	b.press("b", kb.End, "b")
	require.True(t, b.isShown(".verdict"), "its end is known")
}

// An event that both runs have is found, and other moments differ by less than the time between such events.
func TestEachMomentIsFoundOnEachStage(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), 800, 600)
	require.Empty(t, value[[]string](b, `(() => {
		Code.prototype.sheet = () => el('ol', {class: 'lines'});
		history.replaceState = scrollTo = Player.prototype.follow = () => {};
		const wrong = [];
		for (const failure of data.failures.filter(({lesson}) => lesson)) {
			const ids = data.stages.map((s) => s.id).filter((id) => cellAt(failure, id).run);
			for (const from of ids) for (const to of ids) {
				showFailure({failure, stages: [from], step: 1});
				const was = {stages: [from], stepper};
				showFailure({failure, stages: [to], step: 1});
				let last = 0;
				was.stepper.together.forEach((_, at) => {
					was.stepper.position = at;
					const now = momentOf(was);
					const [a, b] = [was.stepper.players[0].states[at], stepper.players[0].states[now]];
					if (now < last || from === to && now !== at) wrong.push([failure.id, from, to, at, now].join(' '));
					last = now;
					if (Math.abs(a.ms - b.ms) > 31000) wrong.push([failure.id, from, to, at, now, a.ms, b.ms].join(' '));
				});
			}
		}
		return wrong;
	})()`))
}

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

// tells returns the runs of a failure, alone and side by side, with what tells before the last step how they end. It
// looks at the first step, at each with a finding, and at the one before the last, whose timeline has all rows until
// then; of the others it takes the sentences. It opens what a reader can unfold, apart from the story.
//
// The lock's own code is not looked at, so it is left out. Address, focus and scroll position stay, because to change
// them takes as long as the rest.
const tells = `((failure, rules) => {
	Code.prototype.sheet = () => el('ol', {class: 'lines'});
	history.replaceState = scrollTo = Player.prototype.follow = HTMLElement.prototype.focus = () => {};
	const outcomes = [...'xoni-u'].map(wordOf);
	const isWord = (word) => new RegExp(/^[a-z]/i.test(word) ? '\\b' + word + '\\b' : word, 'i');
	const words = [...rules, ...outcomes].map((word) => [word, isWord(word)]);
	const sentences = (text) => (text || '').split(/(?<=[.:!?]) |(?<=[。：！？；])/).filter((sentence) => sentence.length > 11);
	const story = [failure.story, failure.fixed].flatMap((text) => sentences(say(text || '')));
	const isRendered = (e) => e.checkVisibility({visibilityProperty: true});
	const rendered = () => [main.innerText, document.title, ...[...main.querySelectorAll('[title], [aria-label], [alt]')].filter(isRendered)
		.flatMap((e) => ['title', 'aria-label', 'alt'].map((name) => e.getAttribute(name) ?? ''))].join('\n');
	const told = (stages) => {
		showFailure({failure, stages, step: 1});
		for (const fold of main.querySelectorAll('.in-terminal, .folded')) fold.open = true;
		const before = stepper.together.slice(0, -1);
		const states = (at) => before[at].map((i, n) => stepper.players[n].states[i]);
		const texts = before.flatMap((_, at) => states(at).flatMap(({says, does}) => [says, ...does])).map((text) => say(text || ''));
		for (const at of before.keys()) {
			if (at > 0 && at < before.length - 1 && !states(at).some((state) => state.found)) continue;
			stepper.go(at);
			texts.push(rendered());
		}
		const text = texts.join('\n').replaceAll(failure.id, '');
		const parts = ['✗', '✓', '◐', ...story, fixOf(failure, stages)?.textContent];
		return [...words.filter(([, word]) => word.test(text)).map(([word]) => word), ...parts.filter((part) => part && text.includes(part))];
	};
	const runs = [...data.stages, ...data.others].map((s) => s.id).filter((id) => cellAt(failure, id).run);
	const pairs = runs.map((id) => [id, beside(failure, id, 1)]).filter(([, next]) => next);
	return [...runs.map((id) => [id]), ...pairs].map((stages) => ({Hash: hashOf(failure, stages), Tells: told(stages)}));
})(failureOf(%q), %s)`

// Each failure is an evaluation of its own. While the page is busy with one, chromedp may wait for its document. It
// then queues 4,096 events at most, and reads no answer once there are more.
func TestRunsDoNotTellHowTheyEnd(t *testing.T) {
	url := onDisk(t, bare(t))
	for _, l := range i18n.Languages {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			var rules []string
			for _, rule := range oracle.Rules() {
				rules = append(rules, i18n.Text(rule).Localize(l))
			}
			words, err := json.Marshal(rules)
			require.NoError(t, err)
			b := open(t, url+"?lang="+string(l), 360, 740)
			looked := 0
			for _, f := range catalogue.Everything {
				for _, run := range value[[]struct {
					Hash  string
					Tells []string
				}](b, fmt.Sprintf(tells, f.ID, words)) {
					require.Empty(t, run.Tells, run.Hash)
					looked++
				}
			}
			require.Greater(t, looked, len(catalogue.Everything))
		})
	}
}

// The story is open at the last step, and earlier for a reader who opens it.
func TestLastStepTells(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3", wide, high)
	shown := func() (all []string) {
		for _, selector := range []string{".story p", ".title code", ".choose a[aria-current] .told", ".step:not(.future) .finding", ".verdict"} {
			if b.isShown(selector) {
				all = append(all, selector)
			}
		}
		return all
	}
	require.Empty(t, shown())
	b.press(kb.End)
	require.Equal(t, []string{".story p", ".title code", ".choose a[aria-current] .told", ".step:not(.future) .finding", ".verdict"}, shown())
	require.Contains(t, b.text(".story"), "Fixed by: ")
	b.press(kb.ArrowLeft)
	require.Empty(t, shown(), "folded again")
	b.eval("document.querySelector('.story summary').focus(), 0")
	b.press(kb.Enter)
	b.press(kb.ArrowLeft)
	require.Equal(t, []string{".story p", ".title code", ".choose a[aria-current] .told", ".step:not(.future) .finding"}, shown(), "it stays open")
}

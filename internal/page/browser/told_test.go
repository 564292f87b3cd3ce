package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

// tells returns what tells, before the last step of a run or of two side by side, how they end. It looks at the first
// step, at each with a finding, and at the one before the last, whose timeline has all rows until then; of the others
// it takes the sentences. It skips the lock's own code, and opens what a reader can unfold, apart from the story.
const tells = `(async () => {
	const rules = %s;
	const outcomes = [...'xoni-u'].map(wordOf);
	const isWord = (word) => new RegExp(/^[a-z]/i.test(word) ? '\\b' + word + '\\b' : word, 'i');
	const words = [...rules, ...outcomes].map((word) => [word, isWord(word)]);
	const sentences = (text) => (text || '').split(/(?<=[.:!?]) |(?<=[。：！？；])/).filter((sentence) => sentence.length > 11);
	const isRendered = (e) => e.checkVisibility({visibilityProperty: true});
	const rendered = () => [main.innerText, document.title, ...[...main.querySelectorAll('[title], [aria-label], [alt]')].filter(isRendered)
		.flatMap((e) => ['title', 'aria-label', 'alt'].map((name) => e.getAttribute(name) ?? ''))].join('\n');
	document.head.append(el('style', {}, '.lines { display: none; }'));
	const found = [];
	let places = 0;
	for (const failure of data.failures) {
		const story = [failure.story, failure.fixed].flatMap((text) => sentences(say(text || '')));
		const runs = data.stages.map((s) => s.id).filter((id) => cellAt(failure, id).run);
		for (const stages of [...runs.map((id) => [id]), ...runs.filter((id) => beside(failure, id, 1)).map((id) => [id, beside(failure, id, 1)])]) {
			showFailure({failure, stages, step: 1});
			main.querySelector('.in-terminal').open = true;
			const before = stepper.together.slice(0, -1);
			const states = (at) => before[at].map((i, n) => stepper.players[n].states[i]);
			const texts = before.flatMap((_, at) => states(at).flatMap(({says, does}) => [says, ...does])).map((text) => say(text || ''));
			for (const at of before.keys()) {
				if (at > 0 && at < before.length - 1 && !states(at).some((state) => state.found)) continue;
				stepper.go(at);
				texts.push(rendered());
			}
			const text = texts.join('\n').replaceAll(failure.id, '');
			const told = words.filter(([, word]) => word.test(text)).map(([word]) => word);
			told.push(...['✗', '✓', '◐', ...story].filter((part) => text.includes(part)));
			found.push(...told.map((one) => hashOf(failure, stages) + ': ' + one));
			places++;
		}
	}
	return {Found: found, Places: places};
})()`

func TestRunsDoNotTellHowTheyEnd(t *testing.T) {
	if os.Getenv("LOCKKATA_EVERY_RUN") == "" {
		t.Skip("it walks every run, for a minute; LOCKKATA_EVERY_RUN=1 asks for it")
	}
	url := onDisk(t, bare(t))
	for _, l := range i18n.Languages {
		var rules []string
		for _, rule := range oracle.Rules() {
			rules = append(rules, i18n.Text(rule).Localize(l))
		}
		words, err := json.Marshal(rules)
		require.NoError(t, err)
		b := open(t, url+"?lang="+string(l), 360, 740)
		told := value[struct {
			Found  []string
			Places int
		}](b, fmt.Sprintf(tells, words))
		require.Empty(t, told.Found, "%s", l)
		require.Greater(t, told.Places, len(failures.All))
		b.eval("localStorage.clear()")
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

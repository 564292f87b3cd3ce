package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

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
			for _, f := range failures.Catalogue {
				for _, run := range value[[]struct {
					Hash  string
					Tells []string
				}](b, fmt.Sprintf(tells, f.ID, words)) {
					require.Empty(t, run.Tells, run.Hash)
					looked++
				}
			}
			require.Greater(t, looked, len(failures.Catalogue))
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

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// unseen steps through a run and returns what is not on the screen after each step: "14 below" is the line below the
// one that is run at step 14.
const unseen = `(([id, stage], stride) => {
	history.replaceState = HTMLElement.prototype.focus = () => {};
	showFailure({failure: failureOf(id), stages: [stage], step: 1});
	const [player] = stepper.players;
	const isHit = (e, left, y) => e.contains(document.elementFromPoint(left + 40, y));
	const isSeen = (e) => { const {left, top, bottom} = e.getBoundingClientRect(); return isHit(e, left, top + 3) && isHit(e, left, bottom - 3); };
	const lost = [];
	while (!stepper.isAtEnd) {
		stepper.go(stepper.position + stride);
		const rows = player.steps.children, at = player.at, {file, line} = player.code.goal ?? {};
		const lines = file === player.code.current ? player.code.body.querySelector('.lines').children : [];
		const fits = [-2, -1, 0].reduce((sum, i) => sum + (lines[line + i]?.offsetHeight ?? 0), 0) <= player.code.body.clientHeight - 8;
		const wanted = {sentence: player.says, before: rows[at - 1], row: rows[at], above: fits && lines[line - 2], line: lines[line - 1], below: lines[line],
			verdict: stepper.isAtEnd ? player.end : null};
		if (file && !wanted.line) lost.push(at + 1 + ' file');
		lost.push(...Object.keys(wanted).filter((name) => wanted[name] && !isSeen(wanted[name])).map((name) => at + 1 + ' ' + name));
	}
	return lost;
})(%s, %d)`

// watched returns the runs of the failures on the first screen.
const watched = `data.failures.filter((f) => f.lesson).flatMap((f) => data.stages.filter((s) => cellAt(f, s.id).run).map((s) => JSON.stringify([f.id, s.id])))`

// After each step the reader sees, without scrolling, the sentence, the current row, the row before it, and the line
// of code with its neighbours, or with the one below it where long lines leave no room. 683×384 is a laptop at 200 %.
// The test looks at the last step, and at each second of the others in the smallest window of a layout, each fifth in
// the larger ones.
func TestEachStepIsSeenWithoutScrolling(t *testing.T) {
	url := onDisk(t, bare(t))
	for _, window := range []struct{ width, height, stride int64 }{
		{1366, 625, 5}, {1280, 650, 5}, {1100, 500, 2}, {390, 844, 2}, {844, 390, 5}, {683, 384, 2}, {1280, 800, 5},
	} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			b := open(t, url, window.width, window.height)
			runs := value[[]string](b, watched)
			require.NotEmpty(t, runs)
			for _, run := range runs {
				require.Empty(t, value[[]string](b, fmt.Sprintf(unseen, run, window.stride)), run)
			}
		})
	}
}

// At 400 % the sentence and the row are seen as far as they fit, and the code by scrolling. Nothing has to be scrolled
// sideways.
func TestZoomedPageShowsSentenceAndRow(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3", 342, 192)
	for range 16 {
		b.press(kb.ArrowRight)
		require.True(t, value[bool](b, `[stepper.players[0].says, stepper.players[0].steps.children[stepper.position]].every((e) => {
			const {top, bottom} = e.getBoundingClientRect();
			return top >= -1 && bottom <= document.querySelector('.controls').getBoundingClientRect().top + 1;
		})`), b.hash())
	}
	require.Equal(t, 342, value[int](b, "document.scrollingElement.scrollWidth"))
}

// On a wall the last step shows at least 12 rows and 10 lines of code, and the finding's words once.
func TestProjectorShowsRowsAndCodeAtTheEnd(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), 1920, 1080)
	b.press("p")
	for _, run := range value[[]string](b, watched) {
		end := value[struct{ Rows, Of, Lines, Told int }](b, fmt.Sprintf(`(([id, stage]) => {
			showFailure({failure: failureOf(id), stages: [stage], step: 9999});
			const {scroll, steps, code, end} = stepper.players[0];
			const seen = (all, box, from) => [...all].filter((e) => e.getBoundingClientRect().top >= from - 1
				&& e.getBoundingClientRect().bottom <= Math.min(innerHeight, box.getBoundingClientRect().bottom) + 1).length;
			const finding = end.innerText.match(/: (.*), sent at/)?.[1];
			return {Rows: seen(steps.children, scroll, scroll.firstChild.getBoundingClientRect().bottom), Of: steps.children.length,
				Lines: seen(code.body.querySelectorAll('li'), code.body, code.body.getBoundingClientRect().top),
				Told: finding ? main.innerText.split(finding.split(': ').at(-1)).length - 1 : 1};
		})(%s)`, run))
		require.GreaterOrEqual(t, end.Rows, min(12, end.Of), run)
		require.GreaterOrEqual(t, end.Lines, 10, run)
		require.Equal(t, 1, end.Told, run)
	}
	b.eval("localStorage.clear()")
}

// The mode for a wall stays through a reload, and a button leaves it. A phone is not offered it.
func TestProjectorIsLeftByAButton(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3", 390, 844)
	b.press("p")
	b.do(chromedp.Reload())
	require.Equal(t, "projector", value[string](b, "document.documentElement.className"))
	require.False(t, b.isShown("#tool-theme"))
	b.click("#tool-projector")
	require.Empty(t, value[string](b, "document.documentElement.className"))
	require.True(t, b.isShown("#tool-theme"))
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	require.False(t, b.isShown("#tool-projector"))
	b.press("p")
	require.True(t, b.isShown("#tool-projector"), "the way out")
	b.press("p")
	require.Empty(t, strings.TrimSpace(value[string](b, "localStorage.getItem('projector')")))
}

// In before/after each verdict is whole, and no other text or control covers it.
func TestVerdictsOfTwoRunsAreWhole(t *testing.T) {
	url := onDisk(t, bare(t))
	for _, window := range [][2]int64{{1366, 768}, {1366, 625}, {1280, 800}, {1920, 1080}} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			b := open(t, url, window[0], window[1])
			require.Empty(t, value[[]string](b, `data.failures.filter((f) => f.lesson).flatMap((f) => {
				const played = data.stages.filter((s) => cellAt(f, s.id).run).map((s) => s.id);
				return played.slice(1).flatMap((id, i) => {
					showFailure({failure: f, stages: [played[i], id], step: 9999});
					return stepper.players.filter(({end}) => {
						const {left, right, top, bottom} = end.getBoundingClientRect();
						const isHit = (x, y) => end.contains(document.elementFromPoint(x, y));
						return end.hidden || end.scrollWidth > end.clientWidth || end.scrollHeight > end.clientHeight
							|| !isHit(left + 20, top + 3) || !isHit(right - 20, bottom - 3);
					}).map(({end}) => [f.id, played[i], id, end.innerText].join(' '));
				});
			})`))
		})
	}
}

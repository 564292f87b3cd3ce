package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

// reports steps through the runs of a failure whose verdict names a line, alone and compared with the next stage. It
// returns what is wrong: only at the last step a line may be marked, the verdict's, which must be in view and have a sign.
const reports = `((failure) => {
	const wrong = [], seen = [];
	const isIn = (line, box) => line.top >= box.top - 1 && line.bottom <= box.bottom + 1; // browsers scroll by whole pixels
	const look = (stages) => {
		showFailure({failure, stages, step: 1});
		stepper.go(stepper.together.length - 2);
		const early = main.querySelectorAll('.reported').length;
		stepper.go(stepper.together.length - 1);
		stages.forEach((id, n) => {
			const {line} = cellAt(failure, id), {code, element} = stepper.players[n];
			const marked = [...code.body.querySelectorAll('.reported')];
			const [at] = marked, sheet = code.body.getBoundingClientRect(), place = at?.getBoundingClientRect();
			const named = at && code.current + ':' + (1 + [...at.parentElement.children].indexOf(at));
			const isShown = !line || isIn(place, sheet) && (innerWidth < 1088 || isIn(place, {top: 0, bottom: innerHeight}));
			const isSigned = !line || at.innerText.includes('✗') && getComputedStyle(at).outlineStyle === 'solid';
			const link = element.querySelector('.verdict button')?.innerText;
			if (early > 0 || marked.length > 1 || named !== line || !isShown || !isSigned || link !== line) {
				wrong.push([hashOf(failure, stages), line, early, marked.length, named, isShown, isSigned, link].join(' '));
			}
			if (line && stages.length === 1) seen.push(line);
		});
	};
	for (const {id} of data.stages.filter(({id}) => cellAt(failure, id).line)) {
		look([id]);
		if (beside(failure, id, 1)) look([id, beside(failure, id, 1)]);
	}
	return {Wrong: wrong, Seen: seen};
})(failureOf(%q))`

func TestLastStepMarksTheLineOfTheVerdict(t *testing.T) {
	url := onDisk(t, bare(t))
	for _, size := range [][2]int64{{1366, 768}, {390, 844}} {
		b := open(t, url, size[0], size[1])
		seen := 0
		for i, f := range failures.All {
			if size[0] < 1000 && !f.FirstScreen {
				continue
			}
			told := value[struct{ Wrong, Seen []string }](b, fmt.Sprintf(reports, f.ID))
			require.Empty(t, told.Wrong, "%d wide", size[0])
			lines := []string{}
			for _, v := range made.rows[i] {
				if at := v.At(); at != nil {
					lines = append(lines, at.Short())
				}
			}
			require.Equal(t, lines, told.Seen, f.ID)
			seen += len(lines)
		}
		t.Logf("%d wide: %d lines", size[0], seen)
		require.NotZero(t, seen)
	}
}

func TestClickOnTheLineOfAFindingShowsIt(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3/step-999", 1366, 768)
	require.Equal(t, "mutex.go:107", b.text(".verdict button"))
	b.press("d")
	require.Zero(t, b.count(".reported"), "the difference is shown")
	b.press("d")
	require.Contains(t, b.text(".reported"), `"DEL"`, "and the code again")
	b.press(kb.Home)
	require.Zero(t, b.count(".reported"))
	b.eval("document.querySelector('.story').open = true, 0")
	b.press(kb.End)
	b.press("d")
	b.click(".step:not(.future) .finding button")
	require.Contains(t, b.text(".reported"), `"DEL"`)
	require.Equal(t, "#check-then-delete/3/step-"+fmt.Sprint(b.count(".step")), b.hash(), "the step stays")
}

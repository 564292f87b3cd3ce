package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
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
		for i, f := range catalogue.All {
			if size[0] < 1000 && !f.FirstScreen {
				continue
			}
			told := value[struct{ Wrong, Seen []string }](b, fmt.Sprintf(reports, f.ID))
			require.Empty(t, told.Wrong, "%d wide", size[0])
			lines := []string{}
			for _, v := range made.Rows[i] {
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

// A run of each kind of lock that is no stage opens by its address, steps to its verdict, and fits a phone.
func TestRunsOfOtherLocksOpenAndStepToTheirVerdicts(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url, 360, 740)
	for hash, verdict := range map[string]string{
		"#renew-partition/6.1":           "NOTICED",
		"#renew-blip/doc1":               "BROKEN: ",
		"#replica-behind/4":              "BROKEN: ",
		"#replica-behind/wait":           "SAFE from ",
		"#redlock-restart-empty/redlock": "BROKEN: ",
		"#process-pause-unique/1":        "SAFE from ",
		"#wake-lost/6.4-edited":          "BROKEN: lost wake-up: ",
	} {
		b.eval(fmt.Sprintf("new Promise((done) => { addEventListener('hashchange', done, {once: true}); location.hash = %q; }).then(() => 0)", hash))
		require.Contains(t, b.hash(), hash+"/step-")
		require.False(t, b.isShown(".verdict"), hash)
		require.True(t, value[bool](b, "document.scrollingElement.scrollWidth <= innerWidth"), hash)
		b.press(kb.End)
		require.Contains(t, b.text(".verdict"), verdict, hash)
		require.True(t, value[bool](b, "document.scrollingElement.scrollWidth <= innerWidth"), hash)
		require.NotZero(t, b.count(".step .source"), "its lines are named: %s", hash)
	}
}

func TestBeforeAndAfterLeadsAlongTheSteps(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#renew-partition/6.1", wide, high)
	b.press(kb.ArrowRight)
	require.Contains(t, b.text(".lines .runs"), `"SET"`, "the line that sends the command")
	b.press("v")
	require.Equal(t, "#renew-partition/5/step-2", b.hash(), "the same moment")
	b.click(`.choose a[href="#renew-partition/6.1"]`)
	b.click(`.choose a[href="#renew-partition/5..6.1"]`)
	require.Equal(t, 2, b.count(".player"))
	b.press("b")
	require.Equal(t, "#renew-partition/5/step-2", b.hash())
	b.eval("location.hash = '#wake-lost/6.4-edited', 0")
	b.until("document.querySelector('.player')")
	b.press(kb.End)
	require.Contains(t, value[string](b, "document.querySelector('.in-terminal').textContent"), "go run . show wake-lost --stage 6.4 --edit acknowledgements-not-heard")
	b.click(".controls a.primary")
	require.Equal(t, "#wake-lost/6.4-edited..6.4/step-1", b.hash(), "the lock without the mistake fixes it")
}

// The list is folded. A run that the page lacks has its command.
func TestMoreLocksAreAListOfTheirOwn(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), wide, high)
	require.Equal(t, 6, b.count(".matrix thead th[title]"), "the stages only")
	link := `.more-locks a[href="#renew-partition/6.1"]`
	require.False(t, b.isShown(link))
	b.click(".more-locks summary")
	b.click(link)
	require.Equal(t, "#renew-partition/6.1/step-1", b.hash())
	b.press(kb.Escape)
	require.Equal(t, "#renew-partition/6.1", b.focus(), "back where one was")
	b.eval("location.hash = '#second-client/6.3', 0")
	b.until("document.querySelector('#note').innerText")
	require.Contains(t, b.text("#note"), "go run . show second-client --stage 6.3")
}

func TestEngineIsAskedForARunThatThePageLacks(t *testing.T) {
	b := open(t, servedWithEngine(t, nil)+"#second-client/6.3", wide, high)
	b.until("document.querySelector('.start')")
	require.Equal(t, "#break/6.3/-/second-client", b.hash())
	b.eval("location.hash = '#second-client/doc1', 0")
	b.until("document.querySelector('#note').innerText")
	require.Contains(t, b.text("#note"), "go run . show second-client --stage doc1", "a lock that the engine does not play")
}

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

const (
	wide = 1280
	high = 800
)

// places runs a test with each way to open the page.
func places(t *testing.T, walk func(t *testing.T, url string)) {
	t.Helper()
	t.Run("from disk", func(t *testing.T) { walk(t, onDisk(t, bare(t))) })
	t.Run("served", func(t *testing.T) { walk(t, served(t, bare(t))) })
}

func TestClickOnACellOpensItsRunAndStepsToTheVerdict(t *testing.T) {
	places(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		require.Equal(t, "A Redis lock, stage by stage, and what breaks it", b.text("h1"))
		b.click(`a[href="#check-then-delete/3"]`)
		require.Equal(t, "The lock changes hands between GET and DEL", capital(b.text("h1")))
		require.Equal(t, "A calls Lock().", b.text(".says"))
		require.False(t, b.isShown(".verdict"), "the verdict comes last")
		b.click(`button[aria-label="next step"]`)
		require.Equal(t, "A sends SET K A1 NX PX 30000, and Redis answers OK.", b.text(".says"))
		require.Equal(t, "#check-then-delete/3/step-2", b.hash())
		b.click(`button[aria-label="one step back"]`)
		require.Equal(t, "A calls Lock().", b.text(".says"))
		b.click(`button[aria-label="last step"]`)
		require.Equal(t, "BROKEN: wrong delete: A's DEL removes the lock of B (B1), sent at mutex.go:107.", b.text(".verdict"))
		require.Equal(t, 2, b.count(".client.in-x"), "two are inside, and red")
		require.Equal(t, b.text(".count"), fmt.Sprintf("step %d of %[1]d", b.count(".step")))
	})
}

func TestKeyboardAloneIsEnough(t *testing.T) {
	places(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		for range 10 {
			if b.count(".skip:focus") == 1 {
				break
			}
			b.press(kb.Tab)
		}
		b.press(kb.Enter)
		require.Equal(t, "#crash-before-expire/1", b.focus(), "a few keys lead to the matrix")
		require.Equal(t, "3px", value[string](b, "getComputedStyle(document.activeElement).outlineWidth"), "the focus is visible")
		b.eval("document.querySelector('tbody.folded button').click(), 0") // the second family
		for b.focus() != "#check-then-delete/1" {
			before := b.focus()
			b.press(kb.ArrowDown)
			require.NotEqual(t, before, b.focus())
		}
		b.press(kb.ArrowRight, kb.ArrowRight, kb.Enter)
		require.Equal(t, "#check-then-delete/3/step-1", b.hash())
		b.press(kb.ArrowRight, kb.ArrowRight, kb.ArrowLeft)
		require.Equal(t, "#check-then-delete/3/step-2", b.hash())
		b.press(kb.End)
		require.Contains(t, b.text(".verdict"), "BROKEN: wrong delete")
		b.press(kb.Home)
		require.Equal(t, "#check-then-delete/3/step-1", b.hash())
		b.press(" ")
		require.Contains(t, b.text(".controls"), "Pause")
		b.press(" ")
		require.NotContains(t, b.text(".controls"), "Pause")
		b.press("b")
		require.Equal(t, "#check-then-delete/3..4/step-1", b.hash())
		b.press("n")
		require.Equal(t, "#check-then-delete/4..5/step-1", b.hash())
		b.press("v", "b")
		require.Equal(t, "#check-then-delete/3/step-1", b.hash())
		b.press("?")
		require.True(t, b.isShown("dialog"))
		b.press(kb.Escape)
		require.False(t, b.isShown("dialog"))
		b.press(kb.Escape)
		require.True(t, b.isShown(".matrix"))
		require.Equal(t, "#check-then-delete/3", b.focus(), "back where one was")
	})
}

func TestFirstScreenHasAFirstStoryAndTheLessonsInOrder(t *testing.T) {
	places(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		require.Equal(t, 18, b.count(".matrix tbody:not(.folded) tr"), "a heading, and the failures that tell the story of the stages")
		require.Equal(t, "crash-before-expire a crash between SETNX and PEXPIRE", b.text(".matrix tbody th[scope=row]"))
		b.click(`.home > p > a[href="#delete-foreign/2"]`)
		require.Equal(t, "#delete-foreign/2/step-1", b.hash())
		b.press(kb.End)
		require.Contains(t, b.text(".story"), "docs/failures.md#delete-foreign")
		require.Zero(t, b.count(".story a"), "the file may lie alone")
		b.click(".controls .primary")
		require.Equal(t, "#delete-foreign/2..3/step-1", b.hash(), "the stage that fixes it")
	})
}

func TestStepShowsRedisAndTheLineOfEachClient(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3/step-11", wide, high)
	require.Equal(t, "B sends SET K B1 NX PX 30000, and Redis answers OK.", b.text(".says"))
	require.Contains(t, b.text(".keys"), "lock:order:1001")
	require.Contains(t, b.text(".keys"), "B1")
	require.Contains(t, b.text(".keys"), "30s left")
	require.Equal(t, 1, b.count(".keys .row.own-1"), "in the colour of B")
	require.Contains(t, b.text(".client:nth-child(1)"), "stands still")
	require.Contains(t, b.text(".legend"), "stands still")
	require.Contains(t, b.text(".legend"), "no network")
	require.Equal(t, 2, b.count(".lines .runs"))
	require.Contains(t, b.text(".lines .runs.own-1"), `m.rdb.Do(ctx, "SET"`)
	require.Contains(t, b.text(".lines .runs.own-0"), `m.rdb.Do(ctx, "DEL"`)
	require.True(t, value[bool](b, `(() => {
		const box = document.querySelector('.sheet').getBoundingClientRect();
		const line = document.querySelector('.lines .runs.own-1').getBoundingClientRect();
		return line.top >= box.top && line.bottom <= box.bottom;
	})()`), "the running line is in view")
	require.Zero(t, b.count(".step:nth-child(12):not(.future)"), "what comes is hidden")
	b.press(kb.ArrowLeft, kb.ArrowLeft)
	require.Contains(t, b.text(".keys"), "no key")
}

func TestDiffShowsWhatTheStageChanged(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/4", wide, high)
	b.press("d")
	require.Contains(t, b.text(".diff"), "From stage 3 to stage 4")
	require.Contains(t, b.text(".diff-old"), "-")
	b.press(kb.ArrowRight)
	require.True(t, b.isShown(".diff"), "it stays while one steps")
	b.press("d")
	require.Equal(t, 1, b.count(".lines .runs"))
}

func TestBeforeAndAfterStepTogether(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url+"#check-then-delete/3..4", wide, high)
	require.Equal(t, 2, b.count(".player"))
	require.True(t, b.areBeside(), "wide: side by side")
	for b.hash() != "#check-then-delete/3..4/step-5" {
		b.press(kb.ArrowRight)
	}
	require.Equal(t, []string{"A sends GET K, and Redis answers A1.", "A calls Unlock()."}, b.sentences(), "where they differ, one waits")
	b.press(kb.ArrowRight)
	require.Equal(t, []string{"The process of A stands still before DEL K.", "The process of A stands still before EVALSHA unlock 1 K A1."}, b.sentences())
	b.press(kb.End)
	require.Equal(t, []string{
		"BROKEN: wrong delete: A's DEL removes the lock of B (B1), sent at mutex.go:107.", "SAFE from wrong delete in this run.",
	}, value[[]string](b, "[...document.querySelectorAll('.verdict')].map((v) => v.innerText)"))
	require.Equal(t, 2, b.count(".player:first-child .client.in-x, .half:first-child .client.in-x"))
	require.Contains(t, value[string](b, `(() => {
		const [line, box] = [stepper.players[1].code.goal.line, stepper.players[1].code.body];
		const {top, bottom} = box.querySelectorAll('li')[line - 1].getBoundingClientRect();
		return top >= box.getBoundingClientRect().top && bottom <= box.getBoundingClientRect().bottom ? box.querySelectorAll('li')[line - 1].innerText : '';
	})()`), "unlockScript.Run", "the line that fixes it is seen")
	narrow := open(t, url+"#check-then-delete/3..4", 800, 1000)
	require.False(t, narrow.areBeside(), "narrow: one below the other")
}

func TestBackButtonGoesBackToTheMatrix(t *testing.T) {
	b := open(t, served(t, bare(t)), wide, high)
	b.click(`a[href="#late-unlock/3"]`)
	b.press(kb.ArrowRight, kb.ArrowRight)
	require.Equal(t, "#late-unlock/3/step-3", b.hash())
	b.eval("new Promise((done) => { addEventListener('hashchange', done, {once: true}); history.back(); }).then(() => 0)")
	require.True(t, b.isShown(".matrix"), "one step back, however many steps one took in the run")
	b.eval("new Promise((done) => { addEventListener('hashchange', done, {once: true}); history.forward(); }).then(() => 0)")
	require.Equal(t, "#late-unlock/3/step-3", b.hash())
	require.Equal(t, "step 3", strings.Split(b.text(".count"), " of ")[0])
}

func TestDeepLinkOpensTheStep(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url+"#renew-partition/5..6/step-4", wide, high)
	require.Contains(t, b.text(".count"), "step 4 of ")
	require.Contains(t, value[string](b, "document.title"), "stage 5 and stage 6: ")
	b = open(t, url+"#renew-partition/5/step-9999", wide, high)
	require.True(t, b.isShown(".verdict"), "a step beyond the last is the last")
	for _, nothing := range []string{"#no-such-failure/1", "#wake-lost/1", "#wake-lost/6/step-x", "#late-unlock/3..9", "#%"} {
		b = open(t, url+nothing, wide, high)
		require.Equal(t, "Page not found", b.text("h1"))
		require.Contains(t, b.text("#note"), "There is nothing at "+nothing)
	}
}

// sentences returns the sentences of all runs that are shown.
func (b *tab) sentences() []string {
	b.t.Helper()
	return value[[]string](b, "[...document.querySelectorAll('.says')].map((s) => s.innerText)")
}

// focus returns the target of the focused link.
func (b *tab) focus() string {
	b.t.Helper()
	return value[string](b, "document.activeElement.getAttribute('href') ?? ''")
}

func (b *tab) areBeside() bool {
	b.t.Helper()
	return value[bool](b, `(() => {
		const [x, y] = [...document.querySelectorAll('.timeline')].map((p) => p.getBoundingClientRect());
		return x.right <= y.left && Math.abs(x.top - y.top) < 2;
	})()`)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

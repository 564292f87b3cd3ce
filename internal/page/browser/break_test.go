package browser

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/edits"
	"lockkata/internal/stages"
)

func TestDroppedNXShowsInTheResultsAndTheSearch(t *testing.T) {
	bothWays(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		b.click(`a[href="#break/2"]`)
		b.until("document.querySelector('.column li')")
		require.Zero(t, b.count(".column .turned"), "the lock as it stands")
		require.Contains(t, b.text(".edits"), `"locked", "NX", "PX" → "locked", "PX"`)
		b.eval(`[...document.querySelectorAll('.edits button')].find((button) => button.innerText.includes('NX dropped')).click(), 0`)
		b.until("document.querySelector('.column .turned')")
		require.Equal(t, "#break/2/nx-dropped", b.hash())
		require.Equal(t, "true", value[string](b, `document.querySelector('.edits [aria-pressed=true]').ariaPressed`))
		require.Contains(t, b.text(".lines .edited"), `m.key, "locked", "PX"`)
		require.Equal(t, "true", value[string](b, `[...document.querySelectorAll('.lines .edited button')].find((button) => button.innerText === 'NX dropped').ariaPressed`))
		require.Regexp(t, `^Your mistake changed 15 of \d\d results; they come first\.$`, b.text(".status"), "without those that do not apply")
		require.Contains(t, b.text(".column"), "a second client tries while the first one holds second-client was ✓")
		require.True(t, b.isInView(".search"), "above the results")
		b.click(".search")
		b.until("document.querySelector('.see')")
		require.Contains(t, b.text(".found"), "Broken: A is inside the lock while B still is. It takes 4 steps, 1 fault; nothing shorter exists.")
		b.click(".see")
		b.until("document.querySelector('.ending')")
		require.Contains(t, b.text(".ending"), "BROKEN: broken exclusion: ")
		require.Contains(t, b.text(".ending"), "replays in a page only")
		require.Regexp(t, `^#play/v1/stage2~[0-9a-f]{8}/2c/1x/short-pauses/exclusion/[a-zA-Z0-9.]+/nx-dropped$`, b.hash())
		require.Less(t, len(b.hash()), 8000)

		again := open(t, url+b.hash(), wide, high)
		require.False(t, again.isShown(".player"), "nothing runs before a click")
		again.click(".start")
		again.until("document.querySelector('.ending')")
		require.Contains(t, again.text(".ending"), "BROKEN: broken exclusion: ")
	})
}

// A search may take minutes, so another request ends it.
func TestNewRequestEndsASearch(t *testing.T) {
	b := open(t, oneFile(t)+"#break/5", wide, high)
	b.click(".start")
	b.until("document.querySelector('.column li')")
	b.click(".search")
	b.until("document.querySelector('.found button')")
	b.choose("lock", "4")
	b.until("document.title === 'Break stage 4' && document.querySelector('.column li')")
	b.click(".search")
	b.until("document.querySelector('.found button')")
	b.click("#tool-language")
	b.until("document.title === '改坏阶段 4' && document.querySelector('.column li')")
	b.eval("localStorage.clear()") // the browser keeps the language
}

func TestRunOfABrokenLockIsSteppedAndTakenOver(t *testing.T) {
	b := open(t, oneFile(t)+"#break/5/watchdog-forgotten-not-ended", wide, high)
	b.click(".start")
	b.until("document.querySelector('.column .turned')")
	b.click(".column .turned a")
	b.until("document.querySelector('.controls .take')")
	require.Regexp(t, `^#break/5/watchdog-forgotten-not-ended/[a-z-]+/step-1$`, b.hash())
	b.click(`button[aria-label="last step"]`)
	require.Contains(t, b.text(".verdict"), "BROKEN")
	b.click(`button[aria-label="first step"]`)
	b.click(".take")
	b.until("document.querySelector('.option')")
	require.Contains(t, b.hash(), "/watchdog-forgotten-not-ended")
}

// A link to an unknown place says so and changes nothing.
func TestUnknownLinkIsReported(t *testing.T) {
	url := oneFile(t)
	b := open(t, url, wide, high)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")
	for hash, says := range map[string]string{
		"#play/9":       "There is no game at #play/9",
		"#break/9":      "There is no lock to break at #break/9",
		"#break/2/none": `There is no edit "none" of stage 2`,
		"#play/v1/stage3/2c/1x/async/wrong-delete/a.zz":          "is no step",
		"#play/v1/stage2~00000000/2c/1x/async/wrong-delete/a":    "a lock that is not here",
		"#play/v1/stage3/2c/1x/async/wrong-delete/b.b.b.b.b.b.b": "is not possible: the lock has changed since",
		"#take/no-such/3/step-2":                                 `There is no failure "no-such"`,
		"#take/late-unlock/3/step-999":                           "no step 999",
	} {
		b.eval(fmt.Sprintf("location.hash = %q, 0", hash))
		b.until("document.querySelector('#note').innerText")
		require.Contains(t, b.text("#note"), says, hash)
		require.False(t, b.isShown(".matrix"), "it stays where it was asked for: %s", hash)
		b.eval("location.hash = '', 0")
		b.until("document.querySelector('.matrix') && !document.querySelector('#note').innerText")
	}
}

// The page shows the effect of every edit of the suite, and every step can be played.
func TestEveryLockIsPlayedAndBroken(t *testing.T) {
	b := open(t, oneFile(t), wide, high)
	b.eval("engine.wanted = true, 0")
	of := map[string]int{}
	for _, e := range edits.All {
		of[e.Stage.ID]++
	}
	for _, c := range stages.All() {
		b.eval(fmt.Sprintf("location.hash = '#play/%s', 0", c.ID))
		b.until(fmt.Sprintf("document.querySelector('.option') && document.title.startsWith('play %s:')", c.NameText()))
		b.press("1")
		b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
		b.eval(fmt.Sprintf("location.hash = '#break/%s', 0", c.ID))
		b.until(fmt.Sprintf("document.querySelector('.edits') && document.title === 'Break %s'", c.NameText()))
		require.Equal(t, of[c.ID], b.count(".edits li"), c.ID)
	}
}

// While the server builds the engine the page says so. If it cannot, the page shows the error and offers another try.
func TestEngineIsAwaitedAndItsErrorReported(t *testing.T) {
	build := make(chan error)
	b := open(t, servedWithEngine(t, func(context.Context) ([]byte, error) { return nil, <-build }), 390, 844)
	b.click(".lists details:first-child summary")
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('progress:indeterminate')")
	require.Contains(t, b.text(".loading"), "The engine is being built on your machine.")
	require.True(t, b.isShown(`.loading a[href="#delete-foreign/2"]`))
	build <- errors.New("there is no Go")
	b.until("document.querySelector('#note').innerText")
	require.Contains(t, b.text("#note"), "The engine could not be built: there is no Go")
	require.True(t, b.isInView("#note p"))
	require.Equal(t, "Play stage 3", b.text("h1"))
	b.click(".again")
	build <- errors.New("there is still no Go")
	b.until("document.querySelector('#note').innerText.includes('still')")
	b.complaints = nil // the browser reports the missing file
}

// On a phone mistakes are a select, and answers scroll into view.
func TestPhoneShowsTheAnswer(t *testing.T) {
	b := open(t, oneFile(t)+"#break/2", 390, 844)
	b.click(".start")
	b.until("document.querySelector('.column li')")
	require.False(t, b.isShown(".edits"))
	b.choose("mistake", "nx-dropped")
	b.until("document.querySelector('.turned')")
	require.True(t, b.isInView(".turned"))
	b.click(".search")
	b.until("document.querySelector('.see')")
	require.True(t, b.isInView(".found .verdict"))
	require.LessOrEqual(t, value[int](b, "document.scrollingElement.scrollWidth"), 390)
}

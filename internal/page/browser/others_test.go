package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

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

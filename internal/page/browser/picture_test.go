package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

// beyond returns how far the picture reaches below the current row, in pixels.
const beyond = `(() => {
	const lines = [...document.querySelectorAll('.picture .line')].map((line) => line.getBoundingClientRect().bottom);
	return Math.max(0, ...lines) - document.querySelector('.step.current').getBoundingClientRect().bottom;
})()`

// marked reports whether a key is marked. For SVG, checkVisibility does not see display.
const marked = `[...document.querySelectorAll('.wrong')].some((mark) => getComputedStyle(mark).display !== 'none')`

func TestDelayedCommandIsAnOpenLineUntilItArrives(t *testing.T) {
	for _, width := range []int64{390, wide} {
		b := open(t, onDisk(t, bare(t))+"#late-unlock/3", width, high)
		sent, arrived := false, false
		for range b.count(".step") {
			says := b.text(".says")
			sent = sent || says == "A sends DEL K."
			arrived = arrived || says == "DEL K of A arrives, and Redis answers 1; A has not read it yet."
			open, late := 0, 0
			switch {
			case arrived:
				late = 1
			case sent:
				open = 1
			}
			require.Equal(t, open, b.count(".line.open"), says)
			require.Equal(t, late, b.count(".line.late"), says)
			require.LessOrEqual(t, value[float64](b, beyond), 0.0, says)
			require.Equal(t, b.isShown(".verdict"), value[bool](b, marked), "a mark comes with its finding")
			b.press(kb.ArrowRight)
		}
		require.True(t, arrived)
		require.True(t, value[bool](b, marked))
		require.Equal(t, "true", value[string](b, "document.querySelector('.picture').getAttribute('aria-hidden')"))
	}
}

func TestTimeThatPassesIsAWave(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#late-unlock/3/step-7", wide, high)
	require.Zero(t, b.count(".wave"))
	b.press(kb.End)
	require.Equal(t, 5, b.count(".wave"), "1s, 29s, 1s, 4s, 6s")
}

func TestWhatIsLostEndsInACross(t *testing.T) {
	for _, test := range []struct {
		run, says string
		open      int // commands on their way
	}{
		{"grant-reply-lost/5", "The connection of A breaks: the reply is lost.", 0},
		{"unlock-after-failed-unlock/3", "The connection of A breaks: the command is lost.", 0},
		{"wake-lost/6", "PUBLISH → nobody listens.", 1},
	} {
		b := open(t, onDisk(t, bare(t))+"#"+test.run, wide, high)
		for b.text(".says") != test.says {
			require.Zero(t, b.count(".line.lost"), test.run)
			b.press(kb.ArrowRight)
		}
		require.Equal(t, 1, b.count(".line.lost"), test.run)
		require.Equal(t, test.open, b.count(".line.open"), test.run)
	}
}

func TestLinesEndAtTheirServers(t *testing.T) {
	judged(t)
	f, found := failures.Find("redlock-split-vote")
	require.True(t, found)
	of := stages.RedLock
	code, err := of.Code(os.DirFS(repository))
	require.NoError(t, err)
	text, err := page.Run(failures.Run(t, f, of.Subject), "one", code, i18n.English)
	require.NoError(t, err)
	b := open(t, onDisk(t, []byte(text)), wide, high)
	b.press(kb.End)
	require.Equal(t, value[[]int](b, "[...document.querySelectorAll('.step:last-child .bar')].map((_, n) => n)"), value[[]int](b, `(() => {
		const bars = [...document.querySelectorAll('.step:last-child .bar')].map((bar) => bar.getBoundingClientRect());
		const ends = [...document.querySelectorAll('.line.short, .line.late')].map((line) => line.getBoundingClientRect().right);
		return [...bars.keys()].filter((n) => ends.some((x) => x > bars[n].left - 12 && x < bars[n].right));
	})()`), "each of the five gets a line")
}

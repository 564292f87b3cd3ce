package browser

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

func TestProjectorIsLargeAndHidesTheSecondary(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3/step-10", wide, 720)
	size := "parseFloat(getComputedStyle(document.querySelector('.says')).fontSize)"
	before := value[float64](b, size)
	b.press("p")
	require.Greater(t, value[float64](b, size), before*1.2)
	for _, secondary := range []string{".story", ".commands", ".choose", ".top .name", "#tool-theme"} {
		require.False(t, b.isShown(secondary), secondary)
	}
	for _, primary := range []string{".says", ".timeline", ".clients", ".keys", ".lines .runs", ".controls"} {
		require.True(t, b.isShown(primary), primary)
	}
	require.Equal(t, "rgb(31, 35, 40)", value[string](b, "getComputedStyle(document.querySelector('.at')).color"), "high contrast: no grey text")
	require.LessOrEqual(t, value[int](b, "document.scrollingElement.scrollHeight"), 720, "all of it fits the wall")
	b.press("p")
	require.True(t, b.isShown(".story"))
}

func TestThemeFollowsTheSystemAndTheSwitch(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), wide, high)
	back := "getComputedStyle(document.body).backgroundColor"
	b.prefers("light")
	require.Equal(t, "rgb(255, 255, 255)", value[string](b, back))
	b.prefers("dark")
	require.Equal(t, "rgb(13, 17, 23)", value[string](b, back))
	b.click("#tool-theme")
	require.Equal(t, "rgb(255, 255, 255)", value[string](b, back), "the switch wins")
	b.press("t")
	require.Equal(t, "rgb(13, 17, 23)", value[string](b, back))
	b.eval("localStorage.clear()")
}

// Each run can be stepped to its verdict and has all its texts, and no page scrolls sideways.
func TestEveryRunStepsToItsVerdictAndFitsAPhone(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url, 360, 740)
	type seen struct{ Hash, Verdict, Want string }
	walked := value[[]seen](b, `(async () => {
		const wrong = [], seen = [];
		const fits = (what) => {
			const page = document.scrollingElement;
			if (page.scrollWidth > innerWidth) wrong.push({Hash: what + ' is ' + page.scrollWidth + ' wide'});
		};
		const show = (hash) => new Promise((done) => {
			addEventListener('hashchange', done, {once: true});
			location.hash = hash;
		});
		fits('the matrix');
		for (const failure of data.failures) {
			for (const [i, cell] of failure.cells.entries()) {
				if (!cell.run) continue;
				for (const {kind, text, says, redis, does, lines} of cell.run.steps) {
					const number = [kind, text, says, redis, ...(does || []), ...(lines || [])].find((said) => /^\d+$/.test(said));
					if (number) wrong.push({Hash: failure.id + '/' + (i + 1) + ' says ' + number});
				}
				await show(failure.id + '/' + (i + 1));
				stepper.go(stepper.together.length - 1);
				fits(location.hash);
				seen.push({Hash: location.hash, Verdict: document.querySelector('.verdict:not([hidden])')?.innerText ?? '', Want: cell.verdict});
			}
			const n = failure.cells.findIndex((cell, i) => cell.run && failure.cells[i + 1]?.run) + 1;
			if (n > 0 && failure.lesson) {
				await show(failure.id + '/' + n + '..' + (n + 1) + '/step-9999');
				fits(location.hash);
			}
		}
		return wrong.length > 0 ? wrong : seen;
	})()`)
	runs := 0
	for _, row := range made.Rows {
		for _, v := range row {
			if v.Trace != nil {
				runs++
			}
		}
	}
	require.Len(t, walked, runs, "%v", walked[0])
	for _, s := range walked {
		require.NotEmpty(t, s.Verdict, s.Hash)
		require.Equal(t, s.Want, s.Verdict, s.Hash)
	}
}

func TestComparisonFitsALaptop(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url+"#check-then-delete/3..4/step-999", 1366, 768)
	require.Less(t, value[float64](b, "document.querySelector('.verdict').offsetHeight"), 32.0, "one line")
	require.GreaterOrEqual(t, value[float64](b, "document.querySelector('.sheet').clientHeight / parseFloat(getComputedStyle(document.querySelector('.sheet')).lineHeight)"), 8.0)
	require.Greater(t, value[float64](b, "document.querySelector('.timeline').clientHeight"), 150.0)
	require.False(t, b.isShown(".in-terminal"))
	require.Contains(t, b.text(".half:last-child .lines [data-changed]"), "unlockScript")
	b = open(t, url+"#process-pause/6/step-11", 1366, 768)
	require.NotZero(t, b.count(".lines li.two"))
	require.True(t, b.isShown(".story"), "it stays while two are on one line of code")
	require.Contains(t, b.text(".meaning"), "no stage prevents it; its row says who can")
}

func TestPrintHasTheWholeTimeline(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3/step-2", wide, high)
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	require.NoError(t, err)
	require.Equal(t, "%PDF", string(pdf[:4]))
	require.Greater(t, len(pdf), 5000)
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	require.Equal(t, "visible", value[string](b, "getComputedStyle(document.querySelector('.step:last-child .said')).visibility"))
	require.True(t, b.isShown(".step:last-child"))
	require.True(t, b.isShown(".verdict"))
	require.False(t, b.isShown(".controls"))
}

// Every control has a name, and text has enough contrast.
func TestPageIsAccessible(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#process-pause/6/step-9999", wide, high)
	for _, landmark := range []string{"header", "main", "nav[aria-label]", "h1", "[aria-live=polite]", "section[aria-label]"} {
		require.NotZero(t, b.count(landmark), landmark)
	}
	require.Empty(t, value[[]string](b, `[...document.querySelectorAll('a, button, input, select')]
		.filter((e) => e.getClientRects().length > 0 && !(e.getAttribute('aria-label') || e.innerText).trim()).map((e) => e.outerHTML)`))
	require.Equal(t, "en", value[string](b, "document.documentElement.lang"))
	for _, scheme := range []string{"light", "dark"} {
		b.prefers(scheme)
		require.Empty(t, value[[]string](b, contrast), scheme)
	}
}

// contrast returns the colours of text with a contrast of less than 4.5 to 1.
const contrast = `(() => {
	const probe = el('span');
	main.append(probe);
	const light = (name) => {
		probe.style.color = 'var(--' + name + ')';
		const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map((c) => c / 255)
			.map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const pairs = [['text', 'back'], ['dim', 'back'], ['dim', 'panel'], ['red', 'back'], ['red', 'red-back'], ['green', 'back'],
		['green', 'green-back'], ['amber', 'amber-back'], ['focus', 'back'], ...[0, 1, 2, 3].map((n) => ['on-own', 'own' + n])];
	return pairs.filter(([x, y]) => {
		const [a, b] = [light(x), light(y)].sort((m, n) => n - m);
		return !((a + 0.05) / (b + 0.05) >= 4.5);
	}).map((pair) => pair.join(' on '));
})()`

// This is the page that "go run . show FAILURE --html FILE" writes.
func TestPageOfOneRunStandsAlone(t *testing.T) {
	judged(t)
	for _, row := range made.Rows {
		v := row[2]
		if v.Failure.ID != "check-then-delete" {
			continue
		}
		code, err := stages.MustFind("3").Code(os.DirFS(repository))
		require.NoError(t, err)
		text, err := page.Run(v, "one", code, i18n.English)
		require.NoError(t, err)
		for _, width := range []int64{360, wide} {
			b := open(t, onDisk(t, []byte(text)), width, 740)
			require.Equal(t, "A calls Lock().", b.text(".says"))
			b.click(`button[aria-label="last step"]`)
			require.Equal(t, v.Headline(), b.text(".verdict"))
			require.LessOrEqual(t, value[int](b, "document.scrollingElement.scrollWidth"), int(width))
		}
		return
	}
	require.Fail(t, "there is no check-then-delete")
}

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
	f, found := catalogue.Find("redlock-split-vote")
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

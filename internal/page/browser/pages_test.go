package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

const repository = "../../.."

var made struct {
	sync.Once
	page.Shown
	page []byte
	err  error
}

// judged computes the verdicts on the stages once.
func judged(t *testing.T) {
	t.Helper()
	made.Do(func() {
		made.Stages = stages.Public()
		if made.Rows, made.err = failures.Rows(t.Context(), catalogue.All, stages.Here(t, made.Stages), 1); made.err != nil {
			return
		}
		if made.Others, made.err = page.PlayOthers(t, os.DirFS(repository)); made.err != nil {
			return
		}
		if made.Lesson, made.err = lesson.PlayAll(t, os.DirFS(repository)); made.err == nil {
			made.page, made.err = page.Page(made.Shown, os.DirFS(repository), page.Engine{})
		}
	})
	require.NoError(t, made.err)
}

// bare returns the page of the stages without an engine.
func bare(t *testing.T) []byte {
	t.Helper()
	judged(t)
	return made.page
}

// onDisk returns the address of a page that is opened from the disk.
func onDisk(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "lockkata.html")
	require.NoError(t, os.WriteFile(name, content, 0o644))
	return "file://" + name
}

// served returns the address of a page on a server, as with "go run . serve".
func served(t *testing.T, content []byte) string {
	t.Helper()
	server := httptest.NewServer(page.Handler(content, nil))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// A run goes on by itself up to the next finding, and stays longer at a longer text.
func TestAutoWaitsForTheReaderAndStopsAtFindings(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#delete-foreign/2", wide, high)
	type rest struct {
		Letters          int
		Time             float64
		Stopped, Finding bool
	}
	// A timer ends at once, and its time is noted.
	rests := value[[]rest](b, `(() => {
		const [real, seen] = [setTimeout, []];
		let act, time;
		setTimeout = (...timer) => { [act, time] = timer; return 1; };
		const {states, says} = stepper.players[0];
		while (!stepper.isAtEnd) {
			if (!stepper.playing) stepper.play();
			const said = {Letters: says.textContent.length, Time: time};
			act();
			seen.push({...said, Stopped: !stepper.playing, Finding: Boolean(states[stepper.position].found)});
		}
		setTimeout = real;
		return seen;
	})()`)
	require.Len(t, rests, b.count(".step")-1)
	for i, r := range rests[1:] {
		require.Equal(t, rests[i].Letters < r.Letters, rests[i].Time < r.Time, "step %d", i+2)
	}
	stops := 0
	for i, r := range rests[:len(rests)-1] {
		require.Equal(t, r.Finding, r.Stopped, "step %d", i+2)
		if r.Stopped {
			stops++
		}
	}
	require.NotZero(t, stops)
}

// Every link to the engine's features says that there is no engine, and how to get one.
func TestPageWithoutAnEngineSaysSo(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), wide, high)
	require.Contains(t, b.text(".home"), "run go run . serve in lockkata’s folder.")
	for _, hash := range []string{"#play/3", "#take/late-unlock/3/step-2", "#break/2"} {
		b.eval(fmt.Sprintf("location.hash = %q, 0", hash))
		b.until("document.querySelector('#note').innerText")
		require.Equal(t, "Play and break the locks", b.text("h1"))
		require.Contains(t, b.text("#note"), "This copy of the page can only replay.")
		b.eval("location.hash = '', 0")
		b.until("!document.querySelector('#note').innerText")
	}
}

// Any static server can serve the page, in any folder: each request gets an answer.
func TestStaticServerHasAllThatThePageAsksFor(t *testing.T) {
	root, err := filepath.Abs(filepath.Join(repository, ".."))
	require.NoError(t, err)
	here, err := filepath.Abs(repository)
	require.NoError(t, err)
	var mu sync.Mutex
	statuses := map[string]int{}
	files := http.FileServer(http.Dir(root))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		files.ServeHTTP(answer, r)
		mu.Lock()
		statuses[r.URL.Path] = answer.Code
		mu.Unlock()
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	name := "/" + filepath.Base(here) + "/docs/" // index.html
	b := open(t, server.URL+name, wide, high)
	for _, hash := range []string{"#learn/3", "#check-then-delete/3", "#check-then-delete/3..4", "#play/3", "#nothing", ""} {
		b.eval("location.hash = '" + hash + "', 0")
		b.settle()
		b.press(kb.End)
	}
	b.click("#tool-language")
	b.do(chromedp.Reload())
	b.eval("localStorage.clear()")
	mu.Lock()
	defer mu.Unlock()
	require.Contains(t, statuses, name)
	for path, status := range statuses {
		require.Less(t, status, 400, path)
	}
}

// A crashed engine is replaced, and the game continues at the same step.
func TestEngineThatDiesIsReplacedInAGame(t *testing.T) {
	b := open(t, oneFile(t), wide, high)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")
	b.press("1")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
	b.eval("engine.hear({kind: 'ended', text: 'out of memory'}), 0")
	b.until("engine.isReady")
	b.press("1")
	b.until("document.querySelector('.turns .count').innerText.startsWith('2 steps')")
	require.Equal(t, 2, value[int](b, "engine.lives"))
	b.eval("asked({op: 'search', stage: '6', goal: 'exclusion', env: 'async', bound: 9}), 0")
	b.until("engine.now")
	b.eval("engine.hear({kind: 'ended', text: 'out of memory'}), 0")
	b.until("document.querySelector('#note').innerText")
	require.Equal(t, "The engine was started again: out of memory.", b.text("#note p"))
	b.press("u")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
}

func TestFilterFindsFailuresByIDAndTitle(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url, wide, high)
	shown := func(b *tab) (ids []string) {
		return value[[]string](b, `[...document.querySelectorAll('.matrix tbody tr:not(.family)')].filter((row) => row.checkVisibility())
			.map((row) => row.querySelector('b').innerText)`)
	}
	before := shown(b)
	b.eval("document.querySelector('.filter input').focus(), 0")
	b.press("p", "t", "t")
	require.Empty(t, shown(b))
	require.False(t, value[bool](b, "document.documentElement.matches('.projector')"), "letters are no commands here")
	require.Equal(t, "0 found", b.text(".filter [role=status]"))
	b.press(kb.Escape)
	require.Equal(t, before, shown(b))
	require.Empty(t, b.text(".filter [role=status]"))
	b.press(strings.Split("GET between", "")...)
	require.Equal(t, []string{"check-then-delete"}, shown(b), "all words, of the title, in families that were folded")
	b.press(kb.Enter)
	require.Equal(t, "#check-then-delete/1", b.focus())
	b.press(kb.Enter)
	require.Equal(t, "#check-then-delete/1/step-1", b.hash())
	b.press(kb.Escape)
	require.Equal(t, []string{"check-then-delete"}, shown(b), "it stays")
	require.Equal(t, "#check-then-delete/1", b.focus())

	b = open(t, url+"?lang=zh", wide, high)
	b.eval("document.querySelector('.filter input').value = '宕机', document.querySelector('.filter input').dispatchEvent(new Event('input')), 0")
	require.Contains(t, shown(b), "crash-before-expire")
	require.Equal(t, fmt.Sprintf("找到 %d 个", len(shown(b))), b.text(".filter [role=status]"))
}

// The prompts of the workshop are on the first screen, in both languages, and each leads to its question or its run.
func TestPromptsOfTheWorkshopAreInThePage(t *testing.T) {
	for folder, l := range map[string]i18n.Language{"/docs/": i18n.English, "/docs/zh-CN/": i18n.Chinese} {
		workshop, err := os.ReadFile(repository + folder + "workshop.md")
		require.NoError(t, err)
		b := open(t, onDisk(t, bare(t))+"?lang="+string(l), wide, high)
		var links []string
		for _, section := range strings.Split(string(workshop), `<a id="prompt-`)[1:] {
			heading := regexp.MustCompile(`(?m)^### (.+)$`).FindStringSubmatch(section)[1]
			link := value[string](b, fmt.Sprintf("[...document.querySelectorAll('.list:last-child a')].find((a) => a.innerText.endsWith(%q)).hash", heading))
			links = append(links, link)
			question := ""
			if in := regexp.MustCompile(`(?m)^<!-- lesson (\S+) -->`).FindStringSubmatch(section); in != nil {
				question = in[1]
			}
			b.eval("location.hash = '" + link + "', 0")
			b.settle()
			if question != "" {
				require.Equal(t, question, value[string](b, "`${lesson.chapter}.${lesson.part + 1}`"), heading)
			} else {
				require.True(t, b.isShown(".player"), heading)
				require.Contains(t, section, "go run . show "+value[string](b, "shown.failure.id"))
			}
			b.eval("location.hash = '', 0")
			b.settle()
		}
		require.Len(t, links, b.count(".list:last-child a"))
	}
}

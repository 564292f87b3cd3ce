package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"lockkata/internal/cli"
	"lockkata/internal/page"
	"lockkata/internal/page/build"
)

// built builds the engine.
func built(ctx context.Context) ([]byte, error) {
	return build.Wasm(ctx, repository, os.DirFS(repository))
}

// servedWithEngine returns the address of a page on a server, as with "go run . serve".
func servedWithEngine(t *testing.T, engine func(context.Context) ([]byte, error)) string {
	t.Helper()
	runner, err := build.Runner(t.Context(), repository)
	require.NoError(t, err)
	judged(t)
	content, err := page.Page(made.Shown, os.DirFS(repository), page.Engine{Runner: runner, File: page.EngineFile})
	require.NoError(t, err)
	server := httptest.NewServer(page.Handler(content, engine))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// oneFile returns the address of the file that "go run . serve --file" writes, once for all tests.
func oneFile(t *testing.T) string {
	t.Helper()
	written.Do(func() {
		name := filepath.Join(t.TempDir(), "lockkata.html")
		t.Chdir(repository)
		require.Zero(t, cli.Run(t, os.DirFS("."), nil, t.Output(), t.Output(), "serve", "--file", name))
		var err error
		written.content, err = os.ReadFile(name)
		require.NoError(t, err)
	})
	require.NotEmpty(t, written.content)
	return onDisk(t, written.content)
}

var written struct {
	sync.Once
	content []byte
}

// bothWays runs a test with each way to open a page that has an engine.
func bothWays(t *testing.T, walk func(t *testing.T, url string)) {
	t.Helper()
	t.Run("served", func(t *testing.T) { walk(t, servedWithEngine(t, built)) })
	t.Run("one file", func(t *testing.T) { walk(t, oneFile(t)) })
}

// until waits up to two minutes for an expression to be true in the page. If it fails it prints the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	look := fmt.Sprintf("new Promise((done, fail) => { const last = Date.now() + 120000; const look = () => ((%s) ? done(0) : "+
		"Date.now() < last ? setTimeout(look, 10) : fail(new Error(document.body.innerText.slice(0, 600)))); look(); })", expression)
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](look, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, "waiting for %s; the page complains: %s", expression, b.errors())
	b.settle()
}

// errors returns the errors of the console and of the page.
func (b *tab) errors() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.complaints, "; ")
}

// choose takes an option, by its id, of the visible select with that label.
func (b *tab) choose(label, id string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => {
		const select = [...document.querySelectorAll('label')].find((l) => l.innerText.startsWith(%q) && l.offsetHeight > 0).querySelector('select');
		select.value = %q;
		select.dispatchEvent(new Event('change'));
	})()`, label, id))
	b.settle()
}

// isInView reports whether an element is within the window.
func (b *tab) isInView(selector string) bool {
	b.t.Helper()
	return value[bool](b, fmt.Sprintf(`(() => {
		const {top, bottom} = document.querySelector(%q).getBoundingClientRect();
		return top >= 0 && bottom <= innerHeight;
	})()`, selector))
}

// option clicks on an option with these words.
func (b *tab) option(words string) {
	b.t.Helper()
	i := value[int](b, fmt.Sprintf("[...document.querySelectorAll('.option')].findIndex((o) => o.innerText.includes(%q)) + 1", words))
	require.NotZero(b.t, i, "%s is not among: %s", words, b.text(".table"))
	before := b.hash()
	b.click(fmt.Sprintf(".options li:nth-child(%d) .option", i))
	b.until(fmt.Sprintf("location.hash !== %q", before))
}

func TestStage3IsWonByClicks(t *testing.T) {
	bothWays(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		b.click(`a[href="#play/3"]`)
		b.until("document.querySelector('.option')")
		require.Equal(t, "Make one client delete another client's lock", capital(b.text("h1")))
		b.option("executes B's SET")
		b.option("B reads")
		for !b.isShown(".ending") {
			b.click(`.turns button[title="Hint (h)"]`)
			b.until("document.querySelector('.just-now').innerText.startsWith('Hint:')")
			before := b.hash()
			b.click(".option.hinted")
			b.until(fmt.Sprintf("location.hash !== %q", before))
		}
		require.Contains(t, b.text(".won"), "Well done! You did it in 9 steps, 3 faults. The best way takes 9 steps, 3 faults.")
		require.Contains(t, b.text(".ending .verdict"), "BROKEN: wrong delete: ")
		require.True(t, b.isShown(`.result a[href="#play/4"]`), "the next challenge")
		require.Contains(t, b.text(".ending .replay"), "go run . replay 'v1/stage3/2c/1x/async/wrong-delete/b.B.")
		require.Equal(t, "DEL", value[string](b, `document.querySelector('.lines .runs.own-1').innerText.match(/"(DEL)"/)[1]`), "the line that did it")
		shared := b.hash()
		again := open(t, url+shared, wide, high)
		require.False(t, again.isShown(".player"), "nothing runs before a click")
		again.click(".start")
		again.until("document.querySelector('.ending')")
		require.Contains(t, again.text(".ending"), "BROKEN: wrong delete: ")
	})
}

func TestTakenOverRunEndsDifferently(t *testing.T) {
	bothWays(t, func(t *testing.T, url string) {
		b := open(t, url+"#check-then-delete/3/step-5", wide, high)
		require.Contains(t, b.text(".says"), "GET K")
		b.press("o")
		b.until("document.querySelector('.option')")
		require.Contains(t, b.text(".story"), "You have taken over check-then-delete")
		require.Contains(t, b.text("h1"), "Bring it home")
		require.False(t, b.isShown(`button[title="Hint (h)"]`), "a hint would break it")
		for range 40 { // A continues at once, and then the others
			if b.isShown(".ending") {
				break
			}
			before := b.hash()
			b.press("1")
			b.until(fmt.Sprintf("location.hash !== %q", before))
		}
		require.Contains(t, b.text(".won"), "You brought it home: no rule is broken.")
		require.Contains(t, b.text(".ending .replay"), "v1/stage3/check-then-delete@9/1x/")
		b.press(kb.Escape)
		require.True(t, b.isShown(".matrix"))
	})
}

// Keys that come faster than the engine answers are queued.
func TestKeysTypedFastWinAGame(t *testing.T) {
	for _, pause := range []int{30, 0} {
		b := open(t, oneFile(t), wide, high)
		b.click(`a[href="#play/3"]`)
		b.until("document.querySelector('.option')")
		b.eval(fmt.Sprintf(`(async () => {
			for (const key of '222222312') {
				document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
				if (%[1]d > 0) await new Promise((done) => setTimeout(done, %[1]d));
			}
		})()`, pause))
		b.until("document.querySelector('.ending')")
		require.Contains(t, b.text(".won"), "Perfect! You did it in 9 steps, 3 faults.")
		require.Contains(t, b.text(".ending"), "For a friend: this game")
		require.Equal(t, "copy "+b.hash(), value[string](b, "document.querySelector('.share + button').ariaLabel"), "without this page's address")
	}
}

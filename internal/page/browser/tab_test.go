package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lockkata/internal/page"
)

var browser context.Context // nil without a Chromium

func TestMain(m *testing.M) { os.Exit(drive(m)) }

// drive runs the tests with one browser for all of them.
func drive(m *testing.M) int {
	path := chromium()
	if path == "" {
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1280, 800))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	started, stop := chromedp.NewContext(all)
	defer stop()
	if err := chromedp.Do(started); err != nil {
		fmt.Fprintf(os.Stderr, "%s does not start: %v\n", path, err)
		return 1
	}
	browser = started
	return m.Run()
}

// chromium returns the path of a Chromium; "" if none is installed.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// tab is a page in the browser, with its requests and errors.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	// complaints are errors and warnings of the console, and exceptions.
	complaints []string
	requests   []string
	own        []string // beginnings of addresses that it may request besides itself and its engine
}

// open opens an address in a window of that size. At the end of the test the page must have no
// errors, and must have requested only itself and its engine.
func open(t *testing.T, url string, width, height int64) *tab {
	t.Helper()
	if browser == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium is installed: apt-get install --no-install-recommends chromium")
		}
		t.Skip("no Chromium is installed: apt-get install --no-install-recommends chromium")
	}
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url))
	mine, _, _ := strings.Cut(url, "#")
	t.Cleanup(func() {
		b.eval("new Promise((done) => setTimeout(() => done(0), 50))") // late errors
		b.mu.Lock()
		defer b.mu.Unlock()
		assert.Empty(t, b.complaints, "the page complains")
		for _, asked := range b.requests {
			begins := func(own string) bool { return strings.HasPrefix(asked, own) }
			own := asked == mine || slices.ContainsFunc(b.own, begins) || strings.HasPrefix(asked, "blob:") || !strings.HasPrefix(mine, "file:") && asked == mine+page.EngineFile
			if !strings.HasPrefix(asked, "data:") {
				assert.True(t, own, "the page asks for something else than itself and its engine: %s", asked)
			}
		}
		assert.NotEmpty(t, b.requests)
	})
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		asked, _, _ := strings.Cut(e.Request.URL, "#")
		b.requests = append(b.requests, asked)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s: %s", e.Type, e.Args[0].Value))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += ": " + thrown.Description
		}
		b.complaints = append(b.complaints, text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...))
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b.t, err)
}

// press presses keys: kb.ArrowRight, "p".
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(key))
		b.settle()
	}
}

// settle waits until the page has handled a new hash, which the browser reports in another task.
func (b *tab) settle() {
	b.t.Helper()
	b.eval("new Promise((done) => setTimeout(() => setTimeout(() => done(0)), 10))")
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
	b.settle()
}

// value returns the value of an expression in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err)
	return got
}

func (b *tab) eval(expression string) { value[any](b, expression) }

// text returns an element's text.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return value[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

func (b *tab) count(selector string) int {
	b.t.Helper()
	return value[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

func (b *tab) hash() string { return value[string](b, "location.hash") }

// isShown reports whether an element exists and is visible.
func (b *tab) isShown(selector string) bool {
	b.t.Helper()
	return value[bool](b, fmt.Sprintf("document.querySelector(%q)?.checkVisibility() ?? false", selector))
}

func (b *tab) prefers(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

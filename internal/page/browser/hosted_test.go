package browser

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"lockkata/internal/cli"
	"lockkata/internal/page"
)

var site struct {
	sync.Once
	page, engine []byte
}

// folder returns a folder as "go run . serve --out" writes it, with a file that was there before.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine"), 0o644))
	site.Do(func() {
		t.Chdir(repository)
		require.Zero(t, cli.Run(t, os.DirFS("."), nil, t.Output(), t.Output(), "serve", "--out", dir))
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 3)
		kept, err := os.ReadFile(filepath.Join(dir, "mine.txt"))
		require.NoError(t, err)
		require.Equal(t, "mine", string(kept))
		site.page, err = os.ReadFile(filepath.Join(dir, "index.html"))
		require.NoError(t, err)
		site.engine, err = os.ReadFile(filepath.Join(dir, page.EngineFile))
		require.NoError(t, err)
	})
	require.NotEmpty(t, site.engine)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.html"), site.page, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, page.EngineFile), site.engine, 0o644))
	return dir
}

// hosted opens a page of that folder on a server, below a path.
func hosted(t *testing.T, files http.Handler) (*tab, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/a/path", files))
	t.Cleanup(server.Close)
	b := open(t, server.URL+"/a/path/#learn/1", wide, high)
	b.own = append(b.own, server.URL+"/a/path/"+page.EngineFile)
	return b, server
}

// play clicks on a game, and returns what the page said while it loaded the engine, and the progress; -1 is unknown.
func (b *tab) play() (said []string, parts []float64) {
	b.t.Helper()
	b.press(kb.Escape)
	b.eval(`globalThis.heard = [], engine.report = (what, part) => heard.push([what, part]), 0`)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")
	return value[[]string](b, "heard.map(([what]) => what)"), value[[]float64](b, "heard.map(([, part]) => part ?? -1)")
}

func TestFolderIsServedByAnyServerAndPlaysWithoutIt(t *testing.T) {
	b, server := hosted(t, http.FileServer(http.Dir(folder(t))))
	require.Equal(t, "The owner dies", b.text("h1"))
	shown := value[float64](b, "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
	require.Less(t, shown, 5000.0, "milliseconds")
	require.EqualValues(t, 0, value[float64](b, "performance.getEntriesByType('resource').length"), "the engine is not loaded")

	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(site.page)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), 700_000, "bytes of a server that compresses, until the lesson is shown")

	begun := time.Now()
	b.play()
	t.Logf("the lesson after %.0f ms, %d bytes compressed; a game after %s, %d bytes", shown, packed.Len(), time.Since(begun), len(site.engine))
	require.Less(t, time.Since(begun), time.Minute)

	server.Close()
	b.eval("location.hash = '#play/2', 0")
	b.until("location.hash.startsWith('#play/v1/stage2/') && document.querySelector('.option')")
	b.press("1")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
	b.eval("location.hash = '#break/2/nx-dropped', 0")
	b.until("document.querySelector('.column .turned')")
}

func TestProgressOfTheEngineIsSensible(t *testing.T) {
	dir := folder(t)
	file := func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, page.EngineFile) {
			return true
		}
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
		return false
	}
	for name, one := range map[string]struct {
		serve   http.HandlerFunc
		says    string
		isKnown bool
	}{
		"with its length": {http.FileServer(http.Dir(dir)).ServeHTTP, `^\d\.\d MB of \d\.\d MB loaded$`, true},
		"without its length": {func(w http.ResponseWriter, r *http.Request) {
			if file(w, r) {
				_, _ = io.Copy(flusher{w}, bytes.NewReader(site.engine))
			}
		}, `^\d\.\d MB of \d\.\d MB loaded$`, true},
		"which the browser unzips": {func(w http.ResponseWriter, r *http.Request) {
			if file(w, r) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(site.engine)
			}
		}, `^\d+\.\d MB loaded$`, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := hosted(t, one.serve)
			said, parts := b.play()
			require.Equal(t, "starting", said[len(said)-1])
			last := 0.0
			for i := range said[:len(said)-1] {
				require.Regexp(t, one.says, said[i])
				if !one.isKnown {
					require.EqualValues(t, -1, parts[i])
					continue
				}
				require.GreaterOrEqual(t, parts[i], last)
				last = parts[i]
			}
			require.Equal(t, one.isKnown, last == 1, "all of it")
		})
	}
}

// flusher sends each part at once, so that the answer has no length.
type flusher struct{ http.ResponseWriter }

func (f flusher) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	f.ResponseWriter.(http.Flusher).Flush()
	return n, err
}

func TestHostedPageSaysWhyTheEngineDidNotArrive(t *testing.T) {
	b, _ := hosted(t, http.FileServer(http.Dir(folder(t))))
	b.eval("globalThis.real = fetch, globalThis.fetch = async () => new Response('<html>', {status: 404, statusText: 'Not Found'}), 0")
	b.press(kb.Escape)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('#note').innerText")
	require.Equal(t, "The engine did not arrive: 404 Not Found. It is the file engine.wasm.gz next to this page, on a web server.", b.text("#note p"))
	b.eval("globalThis.fetch = real, 0")
	b.click("#note .again")
	b.until("document.querySelector('.option')")
}

// Only the runs that documents link to are in docs/index.html.
func TestSmallPageSaysHowToSeeOtherRuns(t *testing.T) {
	file, err := filepath.Abs(filepath.Join(repository, "docs", "index.html"))
	require.NoError(t, err)
	b := open(t, "file://"+file, wide, high)
	require.Equal(t, 18, b.count(".matrix tr[role=row]"), "a heading, and the failures of the first screen")
	require.Zero(t, b.count(".filter"))
	require.Contains(t, b.text(".home"), "To see all failures, and to play, break and search the stages, run go run . serve in lockkata’s folder.")
	for hash, command := range map[string]string{
		"#wake-lost/6/step-3": "wake-lost --stage 6", "#wake-lost/5..6": "wake-lost --stage 5", "#renew-blip/doc1": "renew-blip --stage doc1",
		"#late-unlock/6.1": "late-unlock --stage 6.1",
	} {
		b.eval("location.hash = '" + hash + "', 0")
		b.until("document.querySelector('#note').innerText")
		require.Contains(t, b.text("#note"), "This page does not have this run. In a terminal: go run . show "+command)
		b.eval("location.hash = '', 0")
		b.until("document.querySelector('.home')")
	}
	b.eval("location.hash = '#unlock-cancelled-ctx/5', 0")
	b.until("document.querySelector('.player')")
	b.eval("location.hash = '#nothing', 0")
	b.until("document.querySelector('#note').innerText")
	require.Contains(t, b.text("#note"), "There is nothing at #nothing.")
}

// The first screen asks what comes next in a run, and the run goes on from there.
func TestFirstScreenAsksWhatComesNext(t *testing.T) {
	for width, isShown := range map[int64]bool{390: false, 1024: true, wide: true} {
		b := open(t, onDisk(t, bare(t)), width, high)
		require.Equal(t, isShown, b.isShown("figure"), width)
		require.LessOrEqual(t, value[int64](b, "document.scrollingElement.scrollWidth"), width)
		if !isShown {
			continue
		}
		require.Equal(t, "Unlock()", b.text("figure .step:last-child .said"))
		require.Zero(t, b.count("figure [tabindex]"))
		require.NotZero(t, b.count("figure .picture .line"))
		b.click("figure a")
		require.Equal(t, "A calls Unlock().", b.text(".says"))
		b.press(kb.ArrowRight)
		require.Equal(t, "A sends DEL K, and Redis answers 1.", b.text(".says"))
	}
}

package browser

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

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

package browser

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/lesson"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

const repository = "../../.."

var made struct {
	sync.Once
	shown  []stages.Stage
	rows   [][]failures.Verdict
	others []page.Other
	page   []byte
	err    error
}

// judged computes the verdicts on the stages once.
func judged(t *testing.T) {
	t.Helper()
	made.Do(func() {
		if made.shown, made.err = stages.Ready(t, stages.Public()); made.err == nil {
			made.rows = stages.Judge(t, failures.All, made.shown)
			var chapters [][]*lesson.Played
			made.others, made.err = page.PlayOthers(t, os.DirFS(repository))
			if made.err != nil {
				return
			}
			if chapters, made.err = lesson.PlayAll(t, os.DirFS(repository)); made.err == nil {
				made.page, made.err = page.Page(made.shown, made.rows, made.others, chapters, os.DirFS(repository), page.Engine{})
			}
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

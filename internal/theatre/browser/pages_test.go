package browser

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/theatre"
)

const repository = "../../.."

var made struct {
	sync.Once
	rows [][]failures.Verdict
	page []byte
	err  error
}

// page is the theatre of the stages as they are.
func page(t *testing.T) []byte {
	t.Helper()
	made.Do(func() {
		var shown []columns.Column
		if shown, made.err = columns.Ready(t, columns.Shown()); made.err == nil {
			made.rows = columns.Judge(t, shown)
			made.page, made.err = theatre.Page(shown, made.rows, os.DirFS(repository))
		}
	})
	require.NoError(t, made.err)
	return made.page
}

// onDisk is the address of a page that is opened from the disk.
func onDisk(t *testing.T, page []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "theatre.html")
	require.NoError(t, os.WriteFile(name, page, 0o644))
	return "file://" + name
}

// served is the address of a page that "go run . serve" would serve.
func served(t *testing.T, page []byte) string {
	t.Helper()
	server := httptest.NewServer(theatre.Handler(page))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

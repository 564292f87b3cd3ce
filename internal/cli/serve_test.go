package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The engine is built from the repository: elsewhere there is none, and a line says so.
func TestEngineIsBuiltInTheRepositoryOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, errors := command(t, "serve", "--file", "page.html")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, "the page gets no engine: it is built from lockkata's own folder, with Go: this folder is in no module")
	require.NoFileExists(t, "page.html")
}

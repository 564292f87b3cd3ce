package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The playground is built from the repository: elsewhere there is none, and a line says so.
func TestPlaygroundIsBuiltInTheRepositoryOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, errors := command(t, "site", "public")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, "it is built from lockkata's own folder, with Go: this folder is in no module")
	require.NoFileExists(t, "public/index.html")
}

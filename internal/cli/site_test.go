package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSiteWantsAFolder(t *testing.T) {
	for _, args := range [][]string{{"site"}, {"site", "a", "b"}} {
		status, _, errors := command(t, args...)
		require.Equal(t, exitBadUsage, status)
		require.Contains(t, errors, "site takes the folder to write into")
	}
}

// The playground is built from the repository: elsewhere there is none, and a line says so.
func TestPlaygroundIsBuiltInTheRepositoryOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, errors := command(t, "site", "public")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, "it is built from lockkata's own folder, with Go")
	require.NoFileExists(t, "public/index.html")
}

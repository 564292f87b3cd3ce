//go:build live

package kata

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The one-line test outside the repository has to find the repository and its
// libraries. It links two programs.
func TestGoTestInAFolderOutsideTheRepositoryAsksTheSame(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "4")
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = f.Dir
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "✗ check-then-delete")
	require.Contains(t, string(out), "mutex.go:")
}

// With every search: what "kata verify" proves.
func TestWholeMaterialProvesItself(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.True(t, program(t).verify(t.Context(), repositoryRoot(t), All, &out), out.String())
}

package edits_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/edits"
)

// chooser is a file that only the damaged build has: how the test chooses an edit.
const chooser = `package edits_test

import "` + edits.Package + `"

func init() { choose = func(i int) { damaged.InForce = i } }
`

// buildDamaged builds this package's tests on the damaged locks.
func buildDamaged(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, err := edits.Files(os.DirFS(root))
	require.NoError(t, err)
	files["internal/edits/choose_test.go"] = chooser
	scratch := t.TempDir()
	list, err := edits.Overlay(scratch, root, files)
	require.NoError(t, err)
	program := filepath.Join(scratch, "damaged.exe")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

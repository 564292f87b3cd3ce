package edits_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/edits"
)

// chooser is a file of the edited build only: with it the test chooses an edit.
const chooser = `package edits_test

import "` + edits.Package + `"

func init() { choose = func(i int) { edited.Active = i } }
`

// buildEdited builds this package's tests with the edited locks.
func buildEdited(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, err := edits.Files(os.DirFS(root))
	require.NoError(t, err)
	files["internal/edits/choose_test.go"] = chooser
	scratch := t.TempDir()
	list, err := edits.Overlay(scratch, root, files)
	require.NoError(t, err)
	program := filepath.Join(scratch, "edited.exe")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

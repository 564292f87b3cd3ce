package edits_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/edits"
)

// A page shows the line that a client runs. In the edited build it is the line of the original
// or edited file, however many bodies the function has.
func TestEditedLockHasItsOwnLineNumbers(t *testing.T) {
	sources := os.DirFS("../..")
	files, err := edits.Files(sources)
	require.NoError(t, err)
	for _, e := range edits.All {
		if path.Ext(e.File) != ".go" {
			continue
		}
		raw, err := os.ReadFile("../../" + e.File)
		require.NoError(t, err)
		edited, err := e.Apply(string(raw))
		require.NoError(t, err)
		require.Equal(t, strings.Count(string(raw), "\n"), strings.Count(edited, "\n"), "%s: an edit is on its own lines", e.Name)
		found := calls(t, e.File, files[e.File])
		for _, text := range []string{string(raw), edited} {
			for at := range calls(t, e.File, text) {
				require.True(t, found[at] || inScript(e, string(raw)), "%s: %s is nowhere", e.Name, at)
			}
		}
	}
}

// inScript reports whether an edit changes a Lua script inside a Go file.
func inScript(e edits.Edit, text string) bool {
	before, _, _ := strings.Cut(text, e.Old)
	return strings.Count(before, "`")%2 == 1
}

// calls returns the calls in a file, each with the line that the compiler gives it.
func calls(t *testing.T, file, text string) map[string]bool {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "/lockkata/"+file, text, parser.ParseComments)
	require.NoError(t, err)
	found := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			from, to := files.PositionFor(call.Pos(), false).Offset, files.PositionFor(call.End(), false).Offset
			at := files.Position(call.Pos())
			require.Equal(t, "/lockkata/"+file, at.Filename)
			found[fmt.Sprintf("%s:%d %s", at.Filename, at.Line, text[from:to])] = true
		}
		return true
	})
	return found
}

package term

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A second reader of the standard input would take what package keyboard has buffered.
func TestOnlyKeyboardReadsATerminal(t *testing.T) {
	readers := map[string]bool{`"bufio"`: true, `"golang.org/x/term"`: true}
	for _, dir := range []string{"cli", "interview", "kata", "lesson", "game"} {
		checked := 0
		require.NoError(t, fs.WalkDir(os.DirFS(".."), dir, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			checked++
			file, err := parser.ParseFile(token.NewFileSet(), "../"+name, nil, 0)
			require.NoError(t, err)
			for _, i := range file.Imports {
				require.False(t, readers[i.Path.Value], "%s imports %s: read with keyboard.Open, Piped or ReadLines", name, i.Path.Value)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, is := n.(*ast.SelectorExpr); is {
					require.NotRegexp(t, `^F?[Ss]can`, s.Sel.Name, name)
				}
				return true
			})
			return nil
		}))
		require.Positive(t, checked, dir)
	}
}

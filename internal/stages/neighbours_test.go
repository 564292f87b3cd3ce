package stages_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/stages"
)

// lessons are the declarations of mutex.go in which a stage differs from the one
// before. Everything else must be the same, word for word, and in the same order.
var lessons = map[int][]string{
	2: {"TryLock"},
	3: {"ErrNotHeld", "Mutex", "TryLock", "Unlock"},
	4: {"unlockScript", "Unlock"},
	5: {"Mutex", "NewMutex", "TryLock", "Unlock"},
}

func TestNeighboursDifferInTheirLessonOnly(t *testing.T) {
	for _, s := range stages.All[1:] {
		lesson, ok := lessons[s.Number]
		if !ok {
			continue // a rewrite
		}
		t.Run(s.Dir, func(t *testing.T) {
			before := declarations(t, read(t, stages.All[s.Number-2].Dir))
			after := declarations(t, read(t, s.Dir))
			require.ElementsMatch(t, lesson, differences(before, after))
			require.Equal(t, common(before, after), common(after, before), "the order of declarations")
		})
	}
}

// A guard that never fires is worth nothing.
func TestDriftBetweenNeighboursIsFound(t *testing.T) {
	source := read(t, "stage3_owner_value")
	drifted := bytes.Replace(source, []byte("100 * time.Millisecond"), []byte("101 * time.Millisecond"), 1)
	require.Equal(t, []string{"keyPrefix, pollInterval"}, differences(declarations(t, source), declarations(t, drifted)))
	comment := bytes.Replace(source, []byte("A Mutex is one owner"), []byte("A Mutex is an owner"), 1)
	require.Equal(t, []string{"Mutex"}, differences(declarations(t, source), declarations(t, comment)))
}

func read(t *testing.T, dir string) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("../..", dir, "mutex.go"))
	require.NoError(t, err)
	return source
}

// declaration is a top-level declaration with its comment, as text.
type declaration struct{ name, text string }

var stageName = regexp.MustCompile(`stage[1-9]`)

// declarations are those of a file, but for its imports, with the stage's own
// name left out.
func declarations(t *testing.T, source []byte) []declaration {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "mutex.go", source, parser.ParseComments)
	require.NoError(t, err)
	var found []declaration
	for _, d := range file.Decls {
		name := nameOf(d)
		if name == "" {
			continue
		}
		var text bytes.Buffer
		require.NoError(t, printer.Fprint(&text, files, &printer.CommentedNode{Node: d, Comments: file.Comments}))
		found = append(found, declaration{name, stageName.ReplaceAllString(text.String(), "stage")})
	}
	return found
}

func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		name := ""
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				name += ", " + spec.Name.Name
			case *ast.ValueSpec:
				name += ", " + spec.Names[0].Name
			}
		}
		return name[min(2, len(name)):]
	}
	return ""
}

// differences are the names that are not in both files with the same text.
func differences(before, after []declaration) []string {
	var names []string
	for _, d := range slices.Concat(before, after) {
		if (!slices.Contains(before, d) || !slices.Contains(after, d)) && !slices.Contains(names, d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

// common are the names in a that b has too, in a's order.
func common(a, b []declaration) []string {
	var names []string
	for _, d := range a {
		if slices.ContainsFunc(b, func(o declaration) bool { return o.name == d.name }) {
			names = append(names, d.name)
		}
	}
	return names
}

package columns_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/columns"
)

// lessons are the declarations of mutex.go in which a stage differs from the one
// before. Everything else must be the same, word for word, and in the same order.
var lessons = map[string][]string{
	"2": {"TryLock"},
	"3": {"ErrNotHeld", "Mutex", "TryLock", "Unlock"},
	"4": {"unlockScript", "Unlock"},
	"5": {"Mutex", "NewMutex", "TryLock", "Unlock"},
}

func TestNeighboursDifferInTheirLessonOnly(t *testing.T) {
	for _, s := range columns.All {
		lesson, ok := lessons[s.ID]
		if !ok {
			continue // the first, or a rewrite
		}
		t.Run(s.Dir, func(t *testing.T) {
			before := lock(t, read(t, columns.Must(s.Before).Dir+"/mutex.go"))
			after := lock(t, read(t, s.Dir+"/mutex.go"))
			require.ElementsMatch(t, lesson, differences(before, after))
			require.Equal(t, common(before, after), common(after, before), "the order of declarations")
		})
	}
}

// A guard that never fires is worth nothing.
func TestDriftBetweenNeighboursIsFound(t *testing.T) {
	source := read(t, "stage3_owner_value/mutex.go")
	drifted := strings.Replace(source, "100 * time.Millisecond", "101 * time.Millisecond", 1)
	require.Equal(t, []string{"keyPrefix, pollInterval"}, differences(lock(t, source), lock(t, drifted)))
	comment := strings.Replace(source, "A Mutex is one owner", "A Mutex is an owner", 1)
	require.Equal(t, []string{"Mutex"}, differences(lock(t, source), lock(t, comment)))
}

func read(t *testing.T, file string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	require.NoError(t, err)
	return string(source)
}

var stageName = regexp.MustCompile(`stage[1-9]`)

// lock are the declarations of a stage, with the stage's own name left out.
func lock(t *testing.T, source string) []declaration {
	t.Helper()
	return declarations(t, stageName.ReplaceAllString(source, "stage"))
}

// declaration is a top-level declaration with its comment.
type declaration struct {
	name, text string
	body       string // of a function
}

// declarations are those of a file, but for its imports.
func declarations(t *testing.T, source string) (found []declaration) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	text := func(from, to token.Pos) string { return source[files.Position(from).Offset:files.Position(to).Offset] }
	last := file.Name.End()
	for _, d := range file.Decls {
		if name := nameOf(d); name != "" {
			one := declaration{name: name, text: text(last, d.End())}
			if f, ok := d.(*ast.FuncDecl); ok {
				one.body = text(f.Body.Pos(), f.Body.End())
			}
			found = append(found, one)
		}
		last = d.End()
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

package stages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
)

// The map names each file of the whole lock. Each failure that it names breaks the lock before and
// not this one, and each test that it names exists.
func TestMapOfTheWholeLockIsCorrect(t *testing.T) {
	whole := stages.MustFind("6")
	before := stages.MustFind(whole.Before)
	lines, err := whole.Lines(os.DirFS("../.."))
	require.NoError(t, err)
	tests := testsOf(t, whole)
	var mapped []string
	for _, part := range whole.Map {
		mapped = append(mapped, part.File)
		require.NotEmpty(t, part.Tests, part.File)
		for _, name := range part.Tests {
			require.Contains(t, tests, name, part.File)
		}
		for _, id := range part.Failures {
			f, found := failures.Find(id)
			require.True(t, found, id)
			require.Equal(t, failures.Broken, before.Expect(f), id)
			require.Contains(t, []failures.Outcome{failures.Safe, failures.Noticed}, whole.Expect(f), id)
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(lines)), mapped)

	for _, f := range failures.All { // none is left out
		if before.Expect(f) == failures.Broken && whole.Expect(f) != failures.Broken {
			require.True(t, slices.ContainsFunc(whole.Map, func(p stages.Part) bool { return slices.Contains(p.Failures, f.ID) }), f.ID)
		}
	}
}

// testsOf returns the names of the functions in the tests of a stage's folder.
func testsOf(t *testing.T, c stages.Stage) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", c.Dir, "*_test.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

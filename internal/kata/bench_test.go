package kata

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// bench is one program with every lock that the tests judge: the compiler and the
// linker cost more than all runs.
var bench = sync.OnceValues(func() (*Program, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	all, err := materials(root, All)
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Concat(hostileMaterials(), wrongMaterials(), []Material{{Column: "6.3"}, {Column: "6.4"}, counting, asking, forgetting, idle, hasty, functional, forAnyLock, listeningOn, heedless, forgetful, limited, patient, unhurried}) {
		files, err := m.files(os.DirFS(root))
		if err != nil {
			return nil, err
		}
		all = append(all, files)
	}
	adapted, err := adaptedLocks(root)
	if err != nil {
		return nil, err
	}
	for _, files := range adapted {
		all = append(all, files)
	}
	built, err = Build(context.Background(), root, append(all, oddLock(all[7]))...)
	return built, err
})

// built is the program, if a test has needed it.
var built *Program

func TestMain(m *testing.M) {
	status := m.Run()
	if built != nil {
		built.Close()
	}
	os.Exit(status)
}

func program(t *testing.T) *Program {
	t.Helper()
	p, err := bench()
	require.NoError(t, err)
	return p
}

// repositoryRoot is the module's folder.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// exercise is the one with that ID.
func exercise(t *testing.T, id string) Exercise {
	t.Helper()
	e, err := Find(id)
	require.NoError(t, err)
	return e
}

// judged judges a lock of the bench by what an exercise asks for.
func judged(t *testing.T, id string, files Files) (Exercise, Report) {
	t.Helper()
	e := exercise(t, id)
	report, err := program(t).Judge(t.Context(), files, e.task())
	require.NoError(t, err)
	return e, report
}

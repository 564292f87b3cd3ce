package kata

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// bench is one program with every lock that the tests judge but never change: the
// compiler and the linker cost more than all runs.
type bench struct {
	materials *materials
	locks     map[string]Files
}

// built is the program, if a test has needed it.
var built *Program

var buildBench = sync.OnceValues(func() (*bench, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	m := newMaterials(root)
	locks, err := m.locks(All)
	if err != nil {
		return nil, err
	}
	more := maps.Clone(nameOnly)
	for _, h := range append(hostile, hostileLater...) {
		more[h.name] = Material{Stage: 4, Edits: h.edits}
	}
	for name, material := range more {
		if locks[name], err = material.Files(os.DirFS(root)); err != nil {
			return nil, err
		}
	}
	adapted, err := adaptedLocks(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(locks, adapted)
	m.program, err = Build(context.Background(), root, locks)
	built = m.program
	return &bench{m, locks}, err
})

func TestMain(m *testing.M) {
	status := m.Run()
	if built != nil {
		built.Close()
	}
	os.Exit(status)
}

// benchOf is the program, and the locks that are in it.
func benchOf(t *testing.T) (*Program, map[string]Files) {
	t.Helper()
	b, err := buildBench()
	require.NoError(t, err)
	return b.materials.program, b.locks
}

// materialsOf are the starts and solutions of all exercises.
func materialsOf(t *testing.T) *materials {
	t.Helper()
	b, err := buildBench()
	require.NoError(t, err)
	return b.materials
}

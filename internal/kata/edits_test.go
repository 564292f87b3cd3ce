package kata

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Material is a stage's lock with changes.
type Material struct {
	Column string
	Edits  []Edit
}

// Edit replaces a text that is in a file exactly once.
type Edit struct{ File, Old, New string }

func (m Material) files(repository fs.FS) (Files, error) {
	files, err := readLock(repository, column(m.Column).Dir)
	if err != nil {
		return nil, err
	}
	for name := range files {
		files[name] = renamed(files[name])
	}
	for _, e := range m.Edits {
		if n := strings.Count(files[e.File], e.Old); n != 1 {
			return nil, fmt.Errorf("%q is %d times in %s of %s, not once", e.Old, n, e.File, column(m.Column).Name())
		}
		files[e.File] = strings.Replace(files[e.File], e.Old, e.New, 1)
	}
	return files, nil
}

func filesOf(t *testing.T, m Material) Files {
	t.Helper()
	return read(t, m.files)
}

// startOf and solutionOf read an exercise's locks.
func startOf(t *testing.T, e Exercise) Files    { return read(t, e.Start) }
func solutionOf(t *testing.T, e Exercise) Files { return read(t, e.Solution) }

func read(t *testing.T, from func(fs.FS) (Files, error)) Files {
	t.Helper()
	files, err := from(os.DirFS(repositoryRoot(t)))
	require.NoError(t, err)
	return files
}

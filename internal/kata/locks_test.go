package kata

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/apart"
	"lockkata/internal/edits"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
)

// sample has the exercises and the mistake that the suite tests, since each takes a second. With the tag live, as in CI,
// it is nil, and all are tested.
var sample = []string{"1", "3", "3: the number of the process"}

func inSample(name string) bool { return sample == nil || slices.Contains(sample, name) }

// everything is one program with all locks of the tests: compiling and linking cost more than all runs.
var everything = sync.OnceValues(func() (*apart.Program, error) {
	var all []apart.Lock
	for _, e := range exercises.All {
		if inSample(e.ID) {
			for _, read := range []func(fs.FS) (apart.Files, error){e.Start, e.Solution} {
				files, err := read(os.DirFS(repositoryRoot))
				if err != nil {
					return nil, err
				}
				all = append(all, e.LockOf(files))
			}
		}
	}
	for _, m := range mistakes() {
		if inSample(m.name) && m.compiles() {
			all = append(all, m.lock())
		}
	}
	var err error
	built, err = apart.Build(context.Background(), repositoryRoot, all...)
	return built, err
})

// built is the program, or nil if no test has needed it.
var built *apart.Program

func TestMain(m *testing.M) {
	status := m.Run()
	if built != nil {
		built.Close()
	}
	os.Exit(status)
}

func program(t *testing.T) *apart.Program {
	t.Helper()
	p, err := everything()
	require.NoError(t, err)
	return p
}

// repositoryRoot is the module's folder.
var repositoryRoot, _ = filepath.Abs("../..")

// exercise returns the exercise with that ID.
func exercise(t *testing.T, id string) exercises.Exercise {
	t.Helper()
	e, err := exercises.Find(id)
	require.NoError(t, err)
	return e
}

// newFolder returns a learner's folder in which this exercise was started.
func newFolder(t *testing.T, id string) folder.Folder {
	t.Helper()
	f := folder.Folder{Root: repositoryRoot, Dir: filepath.Join(t.TempDir(), "mylock")}
	_, err := f.Start(exercise(t, id), false)
	require.NoError(t, err)
	return f
}

// write writes files into a folder.
func write(t *testing.T, dir string, files apart.Files) {
	t.Helper()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// filesOf reads a start or a solution.
func filesOf(t *testing.T, read func(fs.FS) (apart.Files, error)) apart.Files {
	t.Helper()
	files, err := read(os.DirFS(repositoryRoot))
	require.NoError(t, err)
	return files
}

// checked checks a lock like the workshop, but plays only the required failures.
func checked(t *testing.T, e exercises.Exercise, files apart.Files) CheckResult {
	t.Helper()
	r := CheckResult{Exercise: e, Folder: folder.Folder{Root: repositoryRoot, Dir: filepath.Join(repositoryRoot, "mylock")}}
	o := apart.OrderOf(e.Required())
	o.Failures, o.Draw = append(e.Required(), e.Predict.Failure), []string{e.Predict.Failure}
	var err error
	r.Report, err = program(t).Bench(e.LockOf(files)).Judge(t.Context(), o)
	require.NoError(t, err)
	r.Passed = r.survives()
	return r
}

// mistake is a lock of an exercise with a change, and the expected result of its check.
type mistake struct {
	name     string // with the exercise: "3: the number of the process"
	exercise exercises.Exercise
	says     string // the beginning of the first line; "" for a lock that passes
	changes  []edits.Change
}

// mistakes reads testdata/mistakes.txt.
var mistakes = sync.OnceValue(func() (all []*mistake) {
	raw, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		panic(err)
	}
	var m *mistake
	var c *edits.Change
	for line := range strings.Lines(string(raw)) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "==":
			id, _, _ := strings.Cut(rest, ": ")
			m = &mistake{name: rest}
			if m.exercise, err = exercises.Find(id); err != nil {
				panic(err)
			}
			all = append(all, m)
		case "@":
			m.changes = append(m.changes, edits.Change{File: rest})
			c = &m.changes[len(m.changes)-1]
		case "-":
			c.Old += rest + "\n"
		case "+":
			c.New += rest + "\n"
		case "says":
			m.says = rest
		}
	}
	return all
})

// compiles reports whether the lock compiles.
func (m *mistake) compiles() bool {
	return m.says == "" || strings.HasPrefix(m.says, "✗") || strings.HasPrefix(m.says, "…")
}

// lock returns the lock with the mistake.
func (m *mistake) lock() apart.Lock { return m.exercise.LockOf(m.files()) }

// files returns the exercise's solution with the mistake. A text that is shorter than a line has no
// newline.
func (m *mistake) files() apart.Files {
	files, err := m.exercise.Solution(os.DirFS(repositoryRoot))
	if err != nil {
		panic(err)
	}
	for _, c := range m.changes {
		if strings.Count(files[c.File], c.Old) != 1 {
			c.Old, c.New = strings.TrimSuffix(c.Old, "\n"), strings.TrimSuffix(c.New, "\n")
		}
		if files[c.File], err = c.Apply(files[c.File]); err != nil {
			panic(m.name + ": " + err.Error())
		}
	}
	return files
}

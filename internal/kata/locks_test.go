package kata

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/apart"
	"lockkata/internal/edits"
)

// sample has the exercises and the mistake that the suite tests, since each takes a second. With the tag live, as in CI,
// it is nil, and all are tested.
var sample = []string{"1", "3", "3: the number of the process"}

func inSample(exercise, name string) bool {
	return sample == nil || slices.Contains(sample, strings.TrimSuffix(exercise+": "+name, ": "))
}

// everything is one program with all locks of the tests: compiling and linking cost more than all runs.
var everything = sync.OnceValues(func() (*apart.Program, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	var all []apart.Lock
	for _, e := range All {
		if inSample(e.ID, "") {
			for _, read := range []func(fs.FS) (apart.Files, error){e.Start, e.Solution} {
				files, err := read(os.DirFS(root))
				if err != nil {
					return nil, err
				}
				all = append(all, e.lockOf(files))
			}
		}
	}
	for _, m := range mistakes() {
		if inSample(m.exercise, m.name) && m.compiles() {
			all = append(all, m.lock())
		}
	}
	built, err = apart.Build(context.Background(), root, all...)
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

// repositoryRoot returns the module's folder.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// exercise returns the exercise with that ID.
func exercise(t *testing.T, id string) Exercise {
	t.Helper()
	e, err := Find(id)
	require.NoError(t, err)
	return e
}

// filesOf reads a start or a solution.
func filesOf(t *testing.T, read func(fs.FS) (apart.Files, error)) apart.Files {
	t.Helper()
	files, err := read(os.DirFS(repositoryRoot(t)))
	require.NoError(t, err)
	return files
}

// checked checks a lock like the workshop, but plays only the required failures.
func checked(t *testing.T, e Exercise, files apart.Files) Result {
	t.Helper()
	r := Result{Exercise: e, Folder: Folder{Root: repositoryRoot(t), Dir: filepath.Join(repositoryRoot(t), "mylock")}}
	o := apart.OrderOf(e.Required())
	o.Failures, o.Draw = append(e.Required(), e.Predict.Failure), []string{e.Predict.Failure}
	var err error
	r.Report, err = program(t).Bench(e.lockOf(files)).Judge(t.Context(), o)
	require.NoError(t, err)
	r.Passed = e.passed(r.Report)
	return r
}

// mistake is a lock of an exercise with a change, and the expected result of its check.
type mistake struct {
	exercise, name string
	says           string // the beginning of the first line; "" for a lock that passes
	changes        []edits.Change
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
			m = &mistake{}
			m.exercise, m.name, _ = strings.Cut(rest, ": ")
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
func (m *mistake) lock() apart.Lock {
	e, err := Find(m.exercise)
	if err != nil {
		panic(err)
	}
	return e.lockOf(m.files())
}

// files returns the exercise's solution with the mistake. A text that is shorter than a line has no
// newline.
func (m *mistake) files() apart.Files {
	e, err := Find(m.exercise)
	if err != nil {
		panic(err)
	}
	solution, err := e.Solution(os.DirFS("../.."))
	if err != nil {
		panic(err)
	}
	files := maps.Clone(solution)
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

package interpreter_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
)

// filesOf are the files of a lock in a folder of the repository.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := filepath.Glob(filepath.Join("../../..", dir, "*"))
	require.NoError(t, err)
	for _, name := range names {
		if ext := path.Ext(name); ext == ".lua" || ext == ".go" && !strings.HasSuffix(name, "_test.go") {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			files[filepath.Base(name)] = string(raw)
		}
	}
	return files
}

// load interprets the lock of a column.
func load(t *testing.T, c columns.Column) (*interpreter.Lock, failures.Subject) {
	t.Helper()
	lock, problems := interpreter.Load(path.Base(c.Dir), filesOf(t, c.Dir))
	require.Empty(t, problems)
	subject := lock.Subject(c.Subject.Name, c.Subject.Has...)
	subject.Ignore = c.Subject.Ignore
	return lock, subject
}

// verdicts plays the whole catalogue on a lock.
func verdicts(t *testing.T, s failures.Subject) map[string]failures.Verdict {
	t.Helper()
	s, err := failures.DiscoverScripts(t, s)
	require.NoError(t, err)
	of := map[string]failures.Verdict{}
	for _, f := range failures.All {
		of[f.ID] = failures.Run(t, f, s)
	}
	return of
}

// interpreted are the columns whose locks the interpreter runs.
var interpreted = []string{"1", "2", "3", "4", "5", "6.1", "6.2", "6.3", "6.4", "6.5"}

// Each cell of the matrix is what it is for the compiled lock: the outcome, what happened,
// and the line that is said to have done it.
func TestInterpretedLockHasTheCellsOfTheCompiledOne(t *testing.T) {
	for _, id := range interpreted {
		t.Run(id, func(t *testing.T) {
			c := columns.Must(id)
			lock, subject := load(t, c)
			mine, compiled := verdicts(t, subject), verdicts(t, c.Subject)
			for _, f := range failures.All {
				is, want := mine[f.ID], compiled[f.ID]
				require.Nil(t, lock.Trouble(), f.ID)
				require.Equal(t, want.Outcome.String()+": "+want.Sentence(), is.Outcome.String()+": "+is.Sentence(), f.ID)
				require.Equal(t, want.Findings, is.Findings, f.ID)
			}
		})
	}
}

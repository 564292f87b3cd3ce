package interpreter_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
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

// sameTrace wants every event to be the same, with the line that sent each command.
func sameTrace(t *testing.T, name string, want, is *world.Trace) {
	t.Helper()
	if want == nil {
		require.Nil(t, is, name)
		return
	}
	require.Len(t, is.Events, len(want.Events), name)
	for i, e := range want.Events {
		one, err := json.Marshal(e)
		require.NoError(t, err)
		other, err := json.Marshal(is.Events[i])
		require.NoError(t, err)
		require.Equal(t, string(one), string(other), "%s, step %d", name, i+1)
	}
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
				sameTrace(t, f.ID, want.Trace, is.Trace)
			}
		})
	}
}

// The search finds the same: the same schedule, after the same number of runs and states.
func TestInterpretedLockHasTheSearchesOfTheCompiledOne(t *testing.T) {
	for _, asked := range []struct {
		id       string
		question int
	}{{"1", 0}, {"3", 3}, {"5", 1}, {"5", 3}, {"6.1", 1}} {
		q := schedule.Suite[asked.question]
		t.Run(asked.id+" "+q.Env, func(t *testing.T) {
			c := columns.Must(asked.id)
			lock, subject := load(t, c)
			mine, compiled := search(t, q, subject), search(t, q, c.Subject)
			require.Nil(t, lock.Trouble())
			require.Equal(t, compiled, mine)
		})
	}
}

// search is what a question finds about a lock.
func search(t *testing.T, q schedule.Question, subject failures.Subject) []schedule.Answer {
	t.Helper()
	subject, err := failures.DiscoverScripts(t, subject)
	require.NoError(t, err)
	setup, properties := q.Ask(subject, 1)
	result, err := schedule.Search(t, setup, properties, schedule.Limits{Bound: q.Bound})
	require.NoError(t, err)
	return result.Answers(setup, properties, 0)
}

package interpreter_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
	"lockkata/internal/edits"
	"lockkata/internal/playground/interpreter"
)

func TestMain(m *testing.M) {
	world.Economical()
	m.Run()
}

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
		require.Equal(t, anonymous(one), anonymous(other), "%s, step %d", name, i+1)
	}
}

var anyUUID = regexp.MustCompile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

// anonymous is an event without the owners' values that a reply or an error tells: each run
// has others.
func anonymous(event []byte) string { return anyUUID.ReplaceAllString(string(event), "an owner") }

// interpreted are the columns whose locks the interpreter runs.
var interpreted = []string{"1", "2", "3", "4", "5", "6.1", "6.2", "6.3", "6.4", "6.5"}

// beyond are the columns whose locks it does not run, with what their visitor is told: those
// of the documents only for the name of what makes one.
var beyond = map[string]string{
	"6":    "service.go:30:2: the package reflect is not to be had here: compile it instead, with go run . kata or go run . grade",
	"doc1": noNewMutex, "doc2": noNewMutex, "doc3": noNewMutex, "doc4": noNewMutex, "doc5": noNewMutex,
}

const noNewMutex = "there is no func NewMutex(rdb redis.UniversalClient, name string, lease time.Duration) (*Mutex, error)"

func TestColumnIsInterpretedOrRefusedWithASentence(t *testing.T) {
	for _, c := range columns.All {
		_, problems := interpreter.Load(path.Base(c.Dir), filesOf(t, c.Dir))
		if slices.Contains(interpreted, c.ID) {
			require.Empty(t, problems, c.ID)
		} else {
			require.Equal(t, beyond[c.ID], problems[0].Error(), c.ID)
		}
	}
}

// taste are the columns that the suite asks about; the live tests ask about all of them.
var taste = []string{"3", "6.5"}

func TestInterpretedEditEndsAsTheSuiteSays(t *testing.T) { requireSameEdits(t, "3") }

// requireSameEdits wants each edit of the suite to do to the interpreted lock what it does
// to the compiled.
func requireSameEdits(t *testing.T, ids ...string) {
	for _, e := range edits.All {
		c, err := e.Column()
		require.NoError(t, err)
		if !slices.Contains(ids, c.ID) {
			continue
		}
		files := filesOf(t, c.Dir)
		name := path.Base(e.File)
		files[name], err = e.Apply(files[name])
		require.NoError(t, err)
		lock, problems := interpreter.Load(path.Base(c.Dir), files)
		for _, p := range problems { // the edit leaves an import that nothing needs
			require.Contains(t, p.Text, "imported and not used", e.Name)
			lines := strings.Split(files[p.File], "\n")
			lines[p.Line-1] = "_ " + lines[p.Line-1]
			files[p.File] = strings.Join(lines, "\n")
		}
		if problems != nil {
			lock, problems = interpreter.Load(path.Base(c.Dir), files)
			require.Empty(t, problems, e.Name)
		}
		subject := lock.Subject("edited", c.Subject.Has...)
		subject.Ignore = c.Subject.Ignore
		subject, err = failures.DiscoverScripts(t, subject)
		require.NoError(t, err)
		f, _ := failures.Find(e.Failure)
		require.Equal(t, e.Outcome.String(), failures.Run(t, f, subject).Outcome.String(), "%s on %s: %s", f.ID, c.ID, e.Name)
		require.Nil(t, lock.Trouble())
	}
}

func TestInterpretedLockHasTheCellsOfTheCompiledOne(t *testing.T) { requireSameCells(t, taste...) }

// requireSameCells wants each cell of the matrix to be what it is for the compiled lock:
// the outcome, what happened, and the line that is said to have done it.
func requireSameCells(t *testing.T, ids ...string) {
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			c := columns.Must(id)
			lock, subject := load(t, c)
			requireSameVerdicts(t, lock, verdicts(t, subject), verdicts(t, c.Subject))
		})
	}
}

func requireSameVerdicts(t *testing.T, lock *interpreter.Lock, mine, compiled map[string]failures.Verdict) {
	t.Helper()
	require.Nil(t, lock.Trouble())
	for _, f := range failures.All {
		is, want := mine[f.ID], compiled[f.ID]
		require.Equal(t, want.Outcome.String()+": "+want.Sentence(), is.Outcome.String()+": "+is.Sentence(), f.ID)
		require.Equal(t, want.Findings, is.Findings, f.ID)
		sameTrace(t, f.ID, want.Trace, is.Trace)
	}
}

func TestInterpretedLockHasTheSearchesOfTheCompiledOne(t *testing.T) { requireSameSearch(t, "3", 1) }

// requireSameSearch wants the search to find the same: the same schedule, after the same
// number of runs and states.
func requireSameSearch(t *testing.T, id string, question int) {
	q, c := schedule.Suite[question], columns.Must(id)
	lock, subject := load(t, c)
	mine, compiled := search(t, q, subject), search(t, q, c.Subject)
	require.Nil(t, lock.Trouble())
	require.Equal(t, compiled, mine)
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

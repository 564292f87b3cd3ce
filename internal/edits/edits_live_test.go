//go:build live

package edits_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/edits"
)

// choose activates edit number i, counted from 1, or none with 0. Only the binary of
// [buildEdited] sets it.
var choose func(i int)

// The locks cannot be edited in place. So the test builds itself again with locks that have all
// edits, and chooses one edit at a time.
func TestEachEditBreaksItsCell(t *testing.T) {
	if choose == nil {
		out, err := exec.Command(buildEdited(t), "-test.v", "-test.run=^TestEachEditBreaksItsCell$").CombinedOutput()
		require.NoError(t, err, string(out))
		t.Log(string(out))
		return
	}
	for i, e := range edits.All {
		t.Run(e.Name, func(t *testing.T) {
			stage := e.Stage
			whole, err := failures.DiscoverScripts(t, stage.Subject)
			require.NoError(t, err)
			f, found := catalogue.Find(e.Failure)
			if e.Failure != "" {
				require.True(t, found)
				require.True(t, failures.Run(t, f, whole).Is(stage.Expect(f)), "without the edit")
				require.NotEqual(t, stage.Expect(f), e.Outcome, "the edit would not show")
			}

			choose(i + 1)
			defer choose(0)
			source, err := os.ReadFile("../../" + e.File)
			require.NoError(t, err)
			subject, err := e.InScripts(whole, string(source))
			require.NoError(t, err)
			subject, err = failures.DiscoverScripts(t, subject)
			require.NoError(t, err, "it works in normal use")
			if e.Failure == "" {
				mustChangeNothing(t, e, subject)
				return
			}
			verdict := failures.Run(t, f, subject)
			t.Log(verdict.Outcome, verdict.Sentence())
			require.Equal(t, e.Outcome, verdict.Outcome)
			require.True(t, oracle.Violates(verdict.Findings, e.Rule), "%s: %v", e.Rule, verdict.Findings)
			requireLinesOfTheLock(t, e, verdict)
			if e.Search != "" {
				mustBeFound(t, e, subject)
			}
		})
	}
}

// requireLinesOfTheLock requires that the lines that sent the commands of a verdict's findings are lines of the edited lock.
func requireLinesOfTheLock(t *testing.T, e edits.Edit, v failures.Verdict) {
	t.Helper()
	code, err := e.Stage.Code(os.DirFS("../.."))
	require.NoError(t, err)
	for i, f := range code.Files {
		if f.Name == path.Base(e.File) {
			code.Files[i].Text, err = e.Apply(f.Text)
			require.NoError(t, err)
		}
	}
	for _, f := range v.Findings {
		if sent := f.CommandIn(v.Trace).Source; sent != nil {
			require.Regexp(t, `\.(Do|Run|EvalSha|Exec|HGet|Subscribe|Receive|send|run|count)\(`, code.Line(sent), "%s: %s", sent, f.Text)
		}
	}
	t.Log(v.At())
}

// mustChangeNothing requires that every failure comes out as without the edit, and that the search of
// the suite finds nothing.
func mustChangeNothing(t *testing.T, e edits.Edit, subject failures.Subject) {
	t.Helper()
	for _, f := range catalogue.All {
		verdict := failures.Run(t, f, subject)
		require.True(t, verdict.Is(e.Stage.Expect(f)), "%s: %s", f.ID, verdict.Sentence())
	}
	result, property, err := search(t, e, subject)
	require.NoError(t, err)
	require.Nil(t, result.Found[property])
	t.Logf("%s: nothing in %d schedules", e.Search, result.Runs)
}

// mustBeFound requires that the search of the suite that the edit names finds it.
func mustBeFound(t *testing.T, e edits.Edit, subject failures.Subject) {
	t.Helper()
	result, property, err := search(t, e, subject)
	require.NotNil(t, result.Found[property], "%s: nothing in %d schedules: %v", e.Search, result.Runs, err)
	found := result.Found[property]
	t.Logf("%s at cost %d in %d steps, after %d schedules", found.Finding.Text, found.Cost, len(found.Schedule), result.Runs)
}

// search runs the search of the suite that the edit names, for its property only.
func search(t *testing.T, e edits.Edit, subject failures.Subject) (result schedule.Result, property string, err error) {
	t.Helper()
	property, env, _ := strings.Cut(e.Search, "/")
	asked := slices.IndexFunc(schedule.Suite, func(q schedule.Question) bool {
		return q.Env == env && slices.Contains(q.Properties, property)
	})
	require.GreaterOrEqual(t, asked, 0, "the suite does not ask %s", e.Search)
	q := schedule.Suite[asked]
	q.Properties = []string{property}
	setup, properties := q.Ask(subject, 1)
	result, err = schedule.Search(t, setup, properties, schedule.Limits{Bound: q.Bound})
	return result, property, err
}

// chooser is a file of the edited build only: with it the test chooses an edit.
const chooser = `//go:build live

package edits_test

import "` + edits.Package + `"

func init() { choose = func(i int) { edited.Active = i } }
`

// buildEdited builds this package's tests with the edited locks.
func buildEdited(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, err := edits.Files(os.DirFS(root))
	require.NoError(t, err)
	files["internal/edits/choose_test.go"] = chooser
	scratch := t.TempDir()
	list, err := edits.Overlay(scratch, root, files)
	require.NoError(t, err)
	program := filepath.Join(scratch, "edited.exe")
	build := exec.Command("go", "test", "-c", "-tags=live", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

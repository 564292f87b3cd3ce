//go:build live

package kata

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/kata/folder"
)

var failedSubtest = regexp.MustCompile(`(?m)^    --- FAIL: TestMyLock/(\S+)`)

// The search finds the mistake in the start of a lock to repair, and not in its solution. Where no
// property covers the mistake, the README explains it and the search finds nothing new in the start.
func TestSearchFindsTheMistakeWhereTheExerciseSaysSo(t *testing.T) {
	for _, e := range exercises.All {
		if !e.IsRepair() {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			search := func(read func(fs.FS) (apart.Files, error)) apart.Report {
				asked, most := e.Search, 0
				if e.Search.Property == "" {
					asked, most = exercises.Query{Bound: -1}, enoughSchedules
				}
				questions := ofTwoClients(questions(asked, exercises.Query{}))
				r, err := program(t).Bench(e.LockOf(filesOf(t, read))).Ask(t.Context(), inquiries(questions, most))
				require.NoError(t, err)
				require.Nil(t, r.Cause)
				return r
			}
			inStart, inSolution := shortest(e, search(e.Start).Found), search(e.Solution).Found
			if e.Search.Property != "" {
				require.NotEmpty(t, inStart)
				require.Empty(t, shortest(e, inSolution))
				return
			}
			for _, f := range inStart {
				require.True(t, slices.ContainsFunc(inSolution, func(s schedule.Found) bool {
					return s.Property == f.Property && s.Env == f.Env && !f.Cheaper(s.Answer)
				}), "%s in %s is broken with cost %d", f.Property, f.Env, f.Cost)
			}
		})
	}
}

// Correct locks of unusual kinds pass, with their search.
func TestRightLockOfAnotherKindPasses(t *testing.T) {
	for _, m := range mistakes() {
		if m.says != "" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			w, r := workshop{lang: i18n.English, say: func(i18n.Message) {}}, CheckResult{Exercise: m.exercise}
			require.NoError(t, w.examine(t.Context(), program(t).Bench(m.lock()), &r))
			require.True(t, r.Passed, r.Screen(View{Width: 120}))
		})
	}
}

// With "go test" in a learner's folder, the start fails only the failures that the exercise fixes, and the
// solution passes.
func TestGoTestPlaysTheFailuresOfTheExercise(t *testing.T) {
	e := exercise(t, "3")
	f := newFolder(t, e.ID)
	red, said := goTest(t, f)
	require.NotEmpty(t, red, said)
	require.Subset(t, e.Fixes, red, said)
	write(t, f.Dir, filesOf(t, e.Solution))
	red, said = goTest(t, f)
	require.Empty(t, red, said)
	require.Contains(t, said, "ok ")
}

func goTest(t *testing.T, f folder.Folder) (red []string, said string) {
	t.Helper()
	cmd := apart.GoCommand(t.Context(), f.Dir, "test", ".")
	out, _ := cmd.CombinedOutput() // it fails if a failure breaks the lock
	for _, found := range failedSubtest.FindAllStringSubmatch(string(out), -1) {
		red = append(red, found[1])
	}
	return red, string(out)
}

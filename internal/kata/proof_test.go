package kata

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/kata/judge"
)

// Each start breaks exactly the failures of its exercise, and each solution none.
func TestStartIsRedForItsExerciseAndSolutionIsGreen(t *testing.T) {
	for _, e := range All {
		if !inSample(e.ID, "") {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			if start := checked(t, e, filesOf(t, e.Start)); e.ID == "1" {
				require.Equal(t, "free-lock-given", e.red(start.Report)[0].Failure.ID, "a skeleton locks nothing")
				require.Len(t, start.Report.Verdicts, 6, "only the basic failures")
			} else {
				requireRedForExercise(t, start)
			}
			solution := checked(t, e, filesOf(t, e.Solution))
			require.True(t, solution.Passed, solution.Screen(View{Width: 120}))
		})
	}
}

func TestOneChoiceOfEachPredictionIsRightForOurLock(t *testing.T) {
	for _, e := range All {
		subject, err := failures.DiscoverScripts(t, stageOf(e.Lock).Subject)
		require.NoError(t, err)
		f, _ := failures.Find(e.Predict.Failure)
		_, fits := Result{Exercise: e, Report: Report{Verdicts: []Cell{{Verdict: failures.Run(t, f, subject)}}}}.predict("en")
		require.True(t, fits, "exercise %s", e.ID)
	}
}

// A failure may not apply to the lock of an earlier exercise.
func requireRedForExercise(t *testing.T, start Result) {
	t.Helper()
	e := start.Exercise
	var red []string
	for _, v := range e.red(start.Report) {
		red = append(red, v.Failure.ID)
	}
	require.NotEmpty(t, red)
	for _, id := range red {
		require.Contains(t, e.Fixes, id, "the start shows more than the exercise fixes")
	}
	for _, id := range e.Fixes {
		f, _ := failures.Find(id)
		if e.isRepair() || stageOf(e.Before).Expect(f) == failures.Broken {
			require.True(t, slices.Contains(red, id), "the start survives %s", id)
		}
	}
}

// The search finds the mistake in the start of a lock to repair, and not in its solution. Where no
// property covers the mistake, the README explains it and the search finds nothing new in the start.
func TestSearchFindsTheMistakeWhereTheExerciseSaysSo(t *testing.T) {
	for _, e := range All {
		if !e.isRepair() || !inSample(e.ID, "") {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			search := func(read func(fs.FS) (Files, error)) Report {
				asked, most := e.Search, 0
				if e.Search.Property == "" {
					asked, most = Sought{Bound: -1}, enoughSchedules
				}
				questions := ofTwoClients(asked.questions(Sought{}))
				r, err := program(t).search(t.Context(), filesOf(t, read), e.asked("en"), questions, most)
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
				require.True(t, slices.ContainsFunc(inSolution, func(s judge.Found) bool {
					return s.Property == f.Property && s.Env == f.Env && !f.Cheaper(s.Answer)
				}), "%s in %s is broken with cost %d", f.Property, f.Env, f.Cost)
			}
		})
	}
}

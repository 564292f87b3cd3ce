package kata

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
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

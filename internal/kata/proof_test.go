package kata

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
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
		f, _ := catalogue.Find(e.Predict.Failure)
		_, fits := Result{Exercise: e, Report: apart.Report{Verdicts: []failures.Cell{{Verdict: failures.Run(t, f, subject)}}}}.predict("en")
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
		f, _ := catalogue.Find(id)
		if e.isRepair() || stageOf(e.Before).Expect(f) == failures.Broken {
			require.True(t, slices.Contains(red, id), "the start survives %s", id)
		}
	}
}

// The first line of a result names the rule that the lock breaks. With the tag live,
// TestLearnerClimbsWithOneLockThatGrows makes all mistakes.
func TestMistakeIsExplainedByWhatItBreaks(t *testing.T) {
	for _, m := range mistakes() {
		if m.says == "" || sample == nil || !inSample(m.exercise, m.name) {
			continue
		}
		t.Run(m.exercise+": "+m.name, func(t *testing.T) {
			if !m.compiles() {
				_, err := apart.Build(t.Context(), repositoryRoot(t), m.lock())
				require.ErrorContains(t, err, m.says)
				return
			}
			r := checked(t, exercise(t, m.exercise), m.files())
			first := strings.Split(r.Screen(View{Width: 200}), "\n")[2]
			require.LessOrEqual(t, strings.Count(r.Screen(View{Width: 80}), "\n"), 60)
			require.False(t, r.Passed)
			require.True(t, strings.HasPrefix(first, m.says), first)
		})
	}
}

func TestLockThatCannotBePlayedIsExplained(t *testing.T) {
	for text, says := range map[string]string{
		"//go:build linux && never\n\npackage mylock\n":       "it does not compile: mutex.go:1: a build tag, or the file's name, excludes it",
		"package mylock\n\nfunc Subject() int { return 1 }\n": "the failures cannot call it: the failures need func Subject() failures.Subject: cannot use ",
		"package mylock\n\nfunc NewMutex() {}\n":              "the failures cannot call it: the failures need func NewMutex(rdb redis.UniversalClient, ",
	} {
		_, err := apart.Build(t.Context(), repositoryRoot(t), apart.Lock{Files: apart.Files{"mutex.go": text}})
		var found *apart.CompileError
		require.ErrorAs(t, err, &found)
		require.Contains(t, found.Kind().Args().Error()+": "+found.Error(), says)
	}
}

func TestResultNamesTheLineAndFailuresThatAreNotRequired(t *testing.T) {
	e := exercise(t, "3")
	screen := checked(t, e, filesOf(t, e.Start)).Screen(View{Width: 120})
	require.Regexp(t, `✗ wrong delete: A's DEL removes the lock of B \(B1\) \(mylock/mutex\.go:\d+\)\n\nScenario delete-foreign: A calls Lock\(\) · `, screen)
	require.Contains(t, screen, "(given) broken exclusion: B is inside the lock while A still is")
	require.NotContains(t, screen, "removes the lock of B (B1) (not part")
}

func TestLongDrawingIsShortened(t *testing.T) {
	for found, says := range map[int]string{5: "line 39\n⋮ 60 lines left out: go run . kata check --all\n\n", 98: "line 9\n⋮ 60 lines left out: go run . kata check --all\nline 70\n"} {
		drawing := ""
		for n := range 100 {
			drawing += fmt.Sprintf("line %d\n", n)
		}
		drawing = strings.Replace(drawing, fmt.Sprintf("line %d\n", found), "✗ leak: forever\n", 1) + "\n"
		require.Contains(t, View{}.shortened(drawing, "leak"), says)
		require.Contains(t, View{}.shortened(drawing, "leak"), "✗ leak: forever\n")
		require.Equal(t, drawing, View{All: true}.shortened(drawing, "leak"))
	}
}

func TestSearchReportsALockThatDecidesAtRandom(t *testing.T) {
	r := Result{Exercise: exercise(t, "3"), Passed: true, Report: apart.Report{Differs: "v1/mylock/b.B"}}
	require.Contains(t, r.Screen(View{Width: 120}), "One schedule did not go the same way twice, so the search left it out: v1/mylock/b.B.")
}

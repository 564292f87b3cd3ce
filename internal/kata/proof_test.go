package kata

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/stages"
)

// Each start breaks exactly the failures of its exercise, and each solution none.
func TestStartIsRedForItsExerciseAndSolutionIsGreen(t *testing.T) {
	for _, e := range exercises.All {
		if !inSample(e.ID) {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			if start := checked(t, e, filesOf(t, e.Start)); e.ID == "1" {
				require.Equal(t, "free-lock-given", start.red()[0].Failure.ID, "a skeleton locks nothing")
				require.Len(t, start.Report.Verdicts, 6, "only the basic failures")
			} else {
				requireRedForExercise(t, start)
			}
			solution := checked(t, e, filesOf(t, e.Solution))
			require.True(t, solution.Passed, solution.Screen(View{Width: 120}))
		})
	}
}

// A failure may not apply to the lock of an earlier exercise.
func requireRedForExercise(t *testing.T, start CheckResult) {
	t.Helper()
	e := start.Exercise
	var red []string
	for _, v := range start.red() {
		red = append(red, v.Failure.ID)
	}
	require.NotEmpty(t, red)
	for _, id := range red {
		require.Contains(t, e.Fixes, id, "the start shows more than the exercise fixes")
	}
	for _, id := range e.Fixes {
		f, _ := catalogue.Find(id)
		if e.IsRepair() || stages.MustFind(e.Before).Expect(f) == failures.Broken {
			require.True(t, slices.Contains(red, id), "the start survives %s", id)
		}
	}
}

// The first line of a result names the rule that the lock breaks. With the tag live,
// TestLearnerClimbsWithOneLockThatGrows makes all mistakes.
func TestMistakeIsExplainedByWhatItBreaks(t *testing.T) {
	for _, m := range mistakes() {
		if m.says == "" || sample == nil || !inSample(m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			if !m.compiles() {
				_, err := apart.Build(t.Context(), repositoryRoot, m.lock())
				require.ErrorContains(t, err, m.says)
				return
			}
			r := checked(t, m.exercise, m.files())
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
		_, err := apart.Build(t.Context(), repositoryRoot, apart.Lock{Files: apart.Files{"mutex.go": text}})
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

func TestSearchReportsALockThatDecidesAtRandom(t *testing.T) {
	r := CheckResult{Exercise: exercise(t, "3"), Passed: true, Report: apart.Report{Differs: "v1/mylock/b.B"}}
	require.Contains(t, r.Screen(View{Width: 120}), "One schedule did not go the same way twice, so the search left it out: v1/mylock/b.B.")
}

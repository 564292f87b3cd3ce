package kata

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
	"lockkata/internal/kata/judge"
)

// The rest runs under the tag live: the other searches, and exercise 6, whose start takes
// longer than all others. The scripted learner passes with its solution.
func TestMaterialProvesItself(t *testing.T) {
	t.Parallel()
	list := slices.Delete(slices.Clone(All), 5, 6)
	for i := range list {
		if list[i].Number != 13 {
			list[i].Search = Sought{}
		}
	}
	var out bytes.Buffer
	require.True(t, program(t).verify(t.Context(), repositoryRoot(t), list, &out), out.String())
	require.Contains(t, out.String(), "✓ explore     breaks truth in refusal with cost 1")
}

// A proof that holds for anything proves nothing.
func TestEachProofFailsForBadMaterial(t *testing.T) {
	t.Parallel()
	e, _ := Find(3)
	start, solution, task := filesOf(t, e.Start), filesOf(t, e.Solution), e.task()
	started, err := program(t).Judge(t.Context(), start, task)
	require.NoError(t, err)
	solved, err := program(t).Judge(t.Context(), solution, task)
	require.NoError(t, err)
	fails := func(says string, change func(*Exercise), by func(Exercise) (string, error)) {
		bad := e
		bad.Fixes = slices.Clone(e.Fixes)
		_, err := by(bad)
		require.NoError(t, err)
		change(&bad)
		_, err = by(bad)
		require.ErrorContains(t, err, says)
	}
	start2 := func(e Exercise) (string, error) { return e.provenStart(started) }
	predict := func(e Exercise) (string, error) { return e.Predict.proven(solved) }
	fails("survives [check-then-set]", func(e *Exercise) { e.Fixes = append(e.Fixes, "check-then-set") }, start2)
	fails("and shows [stranger-unlock double-unlock loss-hidden-at-unlock] beside", func(e *Exercise) { e.Fixes = e.Fixes[:1] }, start2)
	fails("hint 2 is missing", func(e *Exercise) { e.Hints[1] = " " }, Exercise.provenHints)
	fails("check-then-delete: the world says", func(e *Exercise) { e.Predict.Answer = 0 }, predict)
	fails("check-then-delete has no moment", func(e *Exercise) { e.Predict.Until.Client = "Z" }, predict)
	fails("there is no failure no-such", func(e *Exercise) { e.Predict.Failure = "no-such" }, predict)
	_, err = e.provenSolution(started)
	require.ErrorContains(t, err, "shows delete-foreign: wrong delete")

	var out bytes.Buffer
	bad := e
	bad.Predict.Answer = 0
	require.False(t, program(t).verify(t.Context(), repositoryRoot(t), []Exercise{bad}, &out))
	require.Contains(t, out.String(), "   ✗ prediction  check-then-delete: the world says")
	require.Contains(t, out.String(), "1 exercises, 3 of 4 proofs hold")
}

func TestProofOfTheSearchFailsForBadMaterial(t *testing.T) {
	t.Parallel()
	e, _ := Find(13)
	start, solution := filesOf(t, e.Start), filesOf(t, e.Solution)
	_, err := program(t).provenSearch(t.Context(), e, start, start)
	require.ErrorContains(t, err, "breaks truth in the solution: TryLock tells")
	e.Search = Sought{Property: "leak", Env: "crash", Bound: 1}
	_, err = program(t).provenSearch(t.Context(), e, start, solution)
	require.ErrorContains(t, err, "finds nothing about leak in crash up to cost 1 in the start")

	found := func(cost int) []judge.Found {
		return []judge.Found{{Answer: schedule.Answer{Property: "watchdog", Env: "async", Found: true, Cost: cost}}}
	}
	_, err = provenBlind(found(2), found(3))
	require.ErrorContains(t, err, "is said to be blind, and breaks watchdog in async with cost 2")
	_, err = provenBlind(found(2), found(2))
	require.NoError(t, err)
}

func TestExercisesAreNumberedAndToldInFull(t *testing.T) {
	for i, e := range All {
		require.Equal(t, i+1, e.Number)
		for _, text := range []string{e.Title, e.Story, e.Fixed, e.Question, e.Read, e.Predict.Question} {
			require.NotEmpty(t, text, "exercise %d", e.Number)
		}
		require.FileExists(t, repositoryRoot(t)+"/"+e.Read)
		require.GreaterOrEqual(t, len(e.Predict.Choices), 3)
		isRepair := strings.HasPrefix(e.Title, "repair this lock")
		require.Equal(t, isRepair, e.Search != (Sought{}), "exercise %d: what a search makes of it", e.Number)
	}
}

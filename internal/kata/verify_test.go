package kata

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// proves is a prover of the tests' material, at a terminal of the usual width.
func proves(t *testing.T, lang i18n.Language) prover {
	return prover{program(t), repositoryRoot(t), View{Width: 80, Lang: lang}}
}

// The other exercises, and their searches, prove themselves under the tag live, and by
// kata verify.
func TestMaterialProvesItself(t *testing.T) {
	t.Parallel()
	var list []Exercise
	for _, id := range []string{"1", "3", "5", "6.4", "r2"} {
		e := exercise(t, id)
		if id != "r2" {
			e.Search = Sought{}
		}
		list = append(list, e)
	}
	var out bytes.Buffer
	require.True(t, proves(t, i18n.Chinese).verify(t.Context(), list, &out), out.String())
	require.Contains(t, out.String(), "✓ 搜索        refusal 环境里，起点用代价 1、")
	require.Contains(t, out.String(), "\n5 个练习，21 项验证里有 21 项成立\n")
	ours := strings.ReplaceAll(out.String(), "mylock: this method is yours to write", "") // an error of the lock
	require.NotRegexp(t, `[a-z]+ [a-z]+ [a-z]+`, ours, "it is Chinese")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

// A proof that holds for anything proves nothing.
func TestEachProofFailsForBadMaterial(t *testing.T) {
	t.Parallel()
	e := exercise(t, "3")
	start, solution, task := startOf(t, e), solutionOf(t, e), e.task()
	started, err := program(t).Judge(t.Context(), start, task)
	require.NoError(t, err)
	solved, err := program(t).Judge(t.Context(), solution, task)
	require.NoError(t, err)
	fails := func(says string, change func(*Exercise), by func(Exercise) (i18n.Message, error)) {
		bad := e
		bad.Fixes = slices.Clone(e.Fixes)
		_, err := by(bad)
		require.NoError(t, err)
		change(&bad)
		_, err = by(bad)
		require.ErrorContains(t, err, says)
	}
	start2 := func(e Exercise) (i18n.Message, error) { return e.provenStart(started) }
	predict := func(e Exercise) (i18n.Message, error) { return e.Predict.proven(solved) }
	fails("survives [check-then-set]", func(e *Exercise) { e.Level, e.Fixes = Repair, append(e.Fixes, "check-then-set") }, start2)
	fails("and shows [loss-hidden-at-unlock ", func(e *Exercise) { e.Fixes = e.Fixes[:1] }, start2)
	fails("check-then-delete: the world says", func(e *Exercise) { e.Predict.Answer = 0 }, predict)
	fails("check-then-delete has no moment", func(e *Exercise) { e.Predict.Until.Client = "Z" }, predict)
	fails("there is no failure no-such", func(e *Exercise) { e.Predict.Failure = "no-such" }, predict)
	_, err = e.provenSolution(started)
	require.ErrorContains(t, err, "shows delete-foreign: wrong delete")

	var out bytes.Buffer
	bad := e
	bad.Predict.Answer = 0
	require.False(t, proves(t, i18n.English).verify(t.Context(), []Exercise{bad}, &out))
	require.Contains(t, out.String(), "   ✗ prediction  check-then-delete: the world says")
	require.Contains(t, out.String(), "1 exercise, 3 of 4 proofs hold")
}

func TestProofOfTheSearchFailsForBadMaterial(t *testing.T) {
	t.Parallel()
	e := exercise(t, "r2")
	start, solution := startOf(t, e), solutionOf(t, e)
	_, err := proves(t, i18n.English).provenSearch(t.Context(), e, start, start)
	require.ErrorContains(t, err, "breaks truth in the solution: TryLock tells")
	e.Search = Sought{Property: "leak", Env: "crash", Bound: 1}
	_, err = proves(t, i18n.English).provenSearch(t.Context(), e, start, solution)
	require.ErrorContains(t, err, "finds nothing about leak in crash up to cost 1 in the start")

	found := func(cost int) []judge.Found {
		return []judge.Found{{Answer: schedule.Answer{Property: "watchdog", Env: "async", Found: true, Cost: cost}}}
	}
	_, err = provenBlind(found(2), found(3))
	require.ErrorContains(t, err, "is said to be seen by no search, and breaks watchdog in async with cost 2")
	_, err = provenBlind(found(2), found(2))
	require.NoError(t, err)
}

// A key without a lease tells a waiter nothing about when to ask again: it must not ask all
// the time.
func TestSolutionOfTheWaitersLeavesRedisInPeace(t *testing.T) {
	trace, err := world.Run(t, column("6.4").Subject.Config(), func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.StartRun("PERSIST", "lock:order:1001").Wait()
		b.Lock(world.Within(w.Lease / 4)) // before A's watchdog renews
	})
	require.NoError(t, err)
	sent := 0
	for _, e := range trace.Events {
		if e.Kind == world.Executed && e.Client == "B" {
			sent++
		}
	}
	require.Positive(t, sent)
	require.LessOrEqual(t, sent, 6, "try with a script that Redis has to learn, subscribe, try")
}

package kata

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMaterialProvesItself(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.True(t, materialsOf(t).verify(t.Context(), All, &out), out.String())
}

// A proof that holds for anything proves nothing.
func TestEachProofFailsForBadMaterial(t *testing.T) {
	t.Parallel()
	bad := func(change func(*Exercise)) Exercise {
		e, _ := Find(3)
		change(&e)
		return e
	}
	cases := []struct {
		says   string
		change func(*Exercise)
	}{
		{"✗ start       survives [check-then-set]", func(e *Exercise) { e.Fixes = append(e.Fixes, "check-then-set") }},
		{"and shows [loss-hidden-at-unlock stranger-unlock double-unlock] beside", func(e *Exercise) { e.Fixes = e.Fixes[:1] }},
		{"✗ solution    shows delete-foreign: wrong delete", func(e *Exercise) { e.Solution = e.Start }},
		{"✗ hints       hint 2 is missing", func(e *Exercise) { e.Hints[1] = " " }},
		{"✗ prediction  check-then-delete: the world says", func(e *Exercise) { e.Predict.Answer = 0 }},
		{"✗ prediction  check-then-delete has no moment", func(e *Exercise) { e.Predict.Until.Client = "Z" }},
		{"✗ prediction  there is no failure no-such", func(e *Exercise) { e.Predict.Failure = "no-such" }},
	}
	var list []Exercise
	for _, c := range cases {
		list = append(list, bad(c.change))
	}
	var out bytes.Buffer
	require.False(t, materialsOf(t).verify(t.Context(), list, &out))
	for _, c := range cases {
		require.Contains(t, out.String(), c.says)
	}
	require.Contains(t, out.String(), "7 exercises, 21 of 28 proofs hold")
}

func TestProofOfTheSearchFailsForBadMaterial(t *testing.T) {
	t.Parallel()
	seen, _ := Find(13)
	elsewhere, unmended := seen, seen
	elsewhere.Search = Sought{Property: "leak", Env: "crash", Bound: 1}
	unmended.Solution = unmended.Start
	blind, _ := Find(16)
	blind.Search = Sought{Blind: "it is said to be"}
	m := materialsOf(t)
	for says, e := range map[string]Exercise{
		"finds nothing about leak in crash up to cost 1 in the start":   elsewhere,
		"breaks truth in the solution: TryLock tells":                   unmended,
		"is said to be blind, and breaks watchdog in async with cost 2": blind,
	} {
		proven := m.provenSearch(t.Context(), e)
		require.False(t, proven.holds)
		require.Contains(t, proven.text, says)
	}
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
		require.Equal(t, isRepair, e.Search.isSet(), "exercise %d: what a search makes of it", e.Number)
	}
}

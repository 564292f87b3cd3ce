package kata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata/judge"
)

// explored asks about a lock of an exercise's.
func explored(t *testing.T, id string, lock Files, asked Exploring) Explored {
	t.Helper()
	e := exercise(t, id)
	questions, err := asked.questions(e.Search)
	require.NoError(t, err)
	report, err := program(t).search(t.Context(), lock, e.task(), questions, 0)
	require.NoError(t, err)
	return Explored{e, report}
}

func TestSearchDrawsTheMistakeWithTheLearnersLines(t *testing.T) {
	t.Parallel()
	asked := Exploring{Property: "watchdog", Env: "async", Bound: 2}
	e := exercise(t, "r5")
	x := explored(t, "r5", startOf(t, e), asked)
	require.True(t, x.IsBroken())
	screen := x.Screen(View{Width: 120})
	require.Contains(t, screen, "watchdog in async (2 clients, 1 attempt each)\n  broken: ")
	require.Contains(t, screen, "cost 2, 4 steps; nothing shorter exists")
	require.Contains(t, screen, "The shortest way to break watchdog, in async:")
	require.Contains(t, screen, "mutex.go:", "the learner's own line stands beside his command")
	require.NotContains(t, screen, "breaks it as well", "stage 5 needs one step more")
	require.Contains(t, screen, "BROKEN: watchdog: ")
	require.Regexp(t, `^v1/mylock~[0-9a-f]{8}/2c/1x/async/watchdog/`, shortest(x.Exercise, x.Found)[0].Schedule, "it is no schedule of a stage")

	x = explored(t, "r5", solutionOf(t, e), asked)
	require.False(t, x.IsBroken())
	screen = x.Screen(View{Width: 120})
	require.Contains(t, screen, "no violation up to cost 2")
	require.Contains(t, screen, "Nothing is broken up to")
}

func TestSearchTellsTheLearnersMistakeFromTheStages(t *testing.T) {
	t.Parallel()
	e := exercise(t, "r2")
	x := explored(t, "r2", startOf(t, e), Exploring{Bound: 1})
	shown := shortest(x.Exercise, x.Found)
	require.Equal(t, "truth", shown[0].Property)
	require.Equal(t, "refusal", shown[0].Env, "what stage 2 survives comes first")
	require.Contains(t, x.Screen(View{Width: 120}), "our lock of stage 2 breaks it as well")
	require.Equal(t, 1, strings.Count(x.Screen(View{Width: 120, Keys: true}), "The shortest way to break"))
	require.Greater(t, strings.Count(x.Screen(View{Width: 120}), "The shortest way to break"), 1)
	for _, f := range x.Found {
		require.Equal(t, f.Answer.Found, f.Trace != nil, f.Property)
	}
}

func TestSearchThatWasCutShortSaysSo(t *testing.T) {
	e := exercise(t, "4")
	f := judge.Found{}
	f.Property, f.Env, f.Bound = "leak", "crash", 1
	x := Explored{e, Report{Found: []judge.Found{f}}}
	require.Contains(t, x.Screen(View{Width: 120}), "the search for 1 answer was cut short")
	require.False(t, x.IsBroken())
}

func TestQuestionsThatMakeNoSenseAreRefused(t *testing.T) {
	for says, asked := range map[string]Exploring{
		`there is no property "leek"`:     {Property: "leek", Bound: -1},
		`there is no environment "ocean"`: {Env: "ocean", Bound: -1},
	} {
		_, err := asked.questions(Sought{})
		require.ErrorContains(t, err, says)
	}
	for _, asked := range []Exploring{{Property: "wake-up"}, {Env: "leave"}} {
		require.Regexp(t, "^(wake-up|leave) is about something that the lock of exercise 4 does not have: ", asked.fitsNothing(Exercise{ID: "4"}).Error())
	}
	all, err := Exploring{Bound: -1}.questions(Sought{Property: "truth", Env: "refusal", Bound: 2})
	require.NoError(t, err)
	require.Equal(t, "truth", all[len(all)-1].Properties[0], "the exercise's own question is asked last")
	one, err := Exploring{Env: "pause", Property: "watchdog", Bound: 1}.questions(Sought{})
	require.NoError(t, err)
	require.Len(t, one, 1)
	require.Equal(t, 1, one[0].Bound)
}

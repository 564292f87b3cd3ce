package lesson_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/internal/lesson"
)

func play(t *testing.T, p lesson.Part) *lesson.Played {
	t.Helper()
	played, err := p.Play(t, os.DirFS("../.."))
	require.NoError(t, err)
	return played
}

func eachPart(t *testing.T, do func(t *testing.T, p lesson.Part)) {
	for _, c := range lesson.Chapters {
		for _, p := range c.Parts {
			t.Run(string(c.Title+": "+p.Ask), func(t *testing.T) { do(t, p) })
		}
	}
}

func TestSomeAnswersAreRightAndSomeAreWrong(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		right := play(t, p).Right
		require.Contains(t, right, true)
		require.Contains(t, right, false)
	})
}

// A run that ended otherwise would make other answers right.
func TestRightAnswersFollowFromTheRuns(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		before := play(t, p).Right
		if is := p.Is; is != nil {
			p.Is = func(tr *trace.Trace) bool { return !is(tr) }
		} else {
			p.Value = func(*trace.Trace) string { return "another value" }
		}
		require.NotEqual(t, before, play(t, p).Right)
	})
}

// What is shown before the question does not tell which answer will be played.
func TestAllRunsBeginAlike(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		played := play(t, p)
		for _, r := range played.Runs {
			require.Equal(t, played.Runs[0].Trace.Events[:played.Known], r.Trace.Events[:played.Known])
		}
	})
}

func TestPlacesStandInTheCode(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		played := play(t, p)
		for i, a := range p.Answers {
			stands := slices.ContainsFunc(played.Lines, func(l lesson.Line) bool { return l.Place == i+1 })
			require.Equal(t, a.Before != "", stands, a.Words)
		}
		lines := slices.DeleteFunc(slices.Clone(played.Lines), func(l lesson.Line) bool { return l.Place > 0 })
		require.LessOrEqual(t, len(lines), 6, "lines of code at a time")
	})
}

func TestTheSameRunEachTime(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		first, again := play(t, p), play(t, p)
		for i := range first.Runs {
			require.Equal(t, first.Runs[i].Trace.Bytes(), again.Runs[i].Trace.Bytes())
		}
	})
}

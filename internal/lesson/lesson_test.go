package lesson_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// plays has the parts that were played, by their texts.
var plays = map[string]*lesson.Played{}

// play plays a part once for all tests, and playAgain once more.
func play(t *testing.T, p lesson.Part) *lesson.Played {
	t.Helper()
	id := fmt.Sprint(p.Stage, p.Ask, p.Facts, p.Answers[0].Then)
	if plays[id] == nil {
		plays[id] = playAgain(t, p)
	}
	return plays[id]
}

func playAgain(t *testing.T, p lesson.Part) *lesson.Played {
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
		require.NotEqual(t, before, playAgain(t, p).Right)
	})
}

// The rows before the question give no hint at the answer.
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
			require.Equal(t, a.Before+a.Line != "", stands, a.Words)
		}
		lines := slices.DeleteFunc(slices.Clone(played.Lines), func(l lesson.Line) bool { return l.Text == "" })
		require.LessOrEqual(t, len(lines), 6, "lines of code at a time")
	})
}

// "None of the others" is shown by the runs of all others, and any other answer by its own.
func TestNoneOfTheOthersIsShownByTheirRuns(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		played := play(t, p)
		for i, a := range p.Answers {
			shown := played.ToPlay(i)
			require.Equal(t, a.None && played.Right[i], !slices.Contains(shown, i))
			if a.None && played.Right[i] {
				require.Len(t, shown, len(p.Answers)-1)
			}
		}
	})
}

func TestTheSameRunEachTime(t *testing.T) {
	eachPart(t, func(t *testing.T, p lesson.Part) {
		first, again := play(t, p), playAgain(t, p)
		for i := range first.Runs {
			require.Equal(t, first.Runs[i].Trace.Bytes(), again.Runs[i].Trace.Bytes())
		}
	})
}

// Before the answer nothing names the outcome: no rule, no failure, no fix.
func TestNothingGivesTheAnswerAway(t *testing.T) {
	for _, l := range i18n.Languages {
		var forbidden []string
		for _, r := range oracle.Rules() {
			forbidden = append(forbidden, i18n.Text(r).Localize(l))
		}
		for _, f := range catalogue.Everything {
			if strings.Contains(f.ID, "-") { // a single word may be in any sentence
				forbidden = append(forbidden, f.ID)
			}
			forbidden = append(forbidden, i18n.Text(f.Fixed).Localize(l))
		}
		for _, c := range lesson.Chapters {
			for _, p := range c.Parts {
				played := play(t, p)
				texts := append([]i18n.Text{c.Title, c.Lead, p.Ask}, p.Facts...)
				for _, a := range p.Answers {
					texts = append(texts, a.Words)
				}
				var shown []string
				for _, text := range texts {
					shown = append(shown, text.Localize(l))
				}
				for _, line := range played.Lines {
					shown = append(shown, line.Text)
					require.NotContains(t, line.Text, "//", "comments tell too much")
				}
				for _, row := range timeline.NewStory(played.Runs[0].Trace, played.Runs[0].Found, l).Rows() {
					if row.Last < played.Known {
						shown = append(append(shown, row.Text, row.Redis), row.Findings...)
					}
				}
				for _, what := range forbidden {
					require.NotContains(t, strings.Join(shown, "\n"), what, "%s: %s", c.Title, p.Ask)
				}
			}
		}
	}
}

// Nobody gets far by always taking the answer whose run breaks most, the longest one, or "none of them".
func TestNoStrategyReplacesThinking(t *testing.T) {
	strategies := map[string]func(p *lesson.Played, i int) int{
		"breaks most": func(p *lesson.Played, i int) int { return len(p.Runs[i].Found) },
		"longest":     func(p *lesson.Played, i int) int { return len(p.Answers[i].Words) + len(p.Answers[i].Line) },
		"odd one out": func(p *lesson.Played, i int) int { return strings.Count("true", strconv.FormatBool(p.Answers[i].None)) },
		"first":       func(_ *lesson.Played, i int) int { return -i },
		"last":        func(_ *lesson.Played, i int) int { return i },
	}
	for name, weigh := range strategies {
		right, asked := 0, 0
		eachPart(t, func(t *testing.T, p lesson.Part) {
			played := play(t, p)
			best := 0
			for i := range p.Answers {
				if weigh(played, i) > weigh(played, best) {
					best = i
				}
			}
			if asked++; played.Right[best] {
				right++
			}
		})
		require.LessOrEqual(t, float64(right)/float64(asked), 0.4, "%s: right in %d of %d", name, right, asked)
	}
}

// A text that no longer fits its run would teach what is not so.
func TestWhatIsSaidFitsTheRun(t *testing.T) {
	said := map[string]bool{
		"There.": true, "Safe.": false, "Right.": true, "B hears it.": false, "B has it": true, "B sleeps.": false,
		"Sold once.": true, "Sold twice.": false, "Stage 6 cannot.": false, "Done once.": false, "Done twice.": true,
		"B gets in": false, "Nobody ": false, "Guilty.": true, "Not this one.": false, "Nothing went wrong,": false,
		"Once.": false, "Twice.": true,
	}
	eachPart(t, func(t *testing.T, p lesson.Part) {
		if p.Is == nil {
			return
		}
		for i, right := range play(t, p).Right {
			known := false
			for begins, wants := range said {
				if strings.HasPrefix(string(p.Answers[i].Then), begins) {
					known = true
					require.Equal(t, wants, right, "%s: %s", p.Ask, p.Answers[i].Then)
				}
			}
			require.True(t, known, p.Answers[i].Then)
		}
	})
}

// A text that begins with a number says the value, and so does one that is said after all answers. Else that of
// the right one begins with yes.
func TestWhatIsSaidFitsTheValue(t *testing.T) {
	values := map[string]string{"One": "1", "Two": "2", "Yes": "yes", "No": "no"}
	eachPart(t, func(t *testing.T, p lesson.Part) {
		if p.Value == nil {
			return
		}
		played := play(t, p)
		for i, a := range p.Answers {
			word := a.Then[:strings.IndexAny(string(a.Then), " .,:")]
			all := a.Then == p.Answers[0].Then && a.Then == p.Answers[1].Then
			if all || word == "One" || word == "Two" {
				require.Equal(t, p.Value(played.Runs[i].Trace), values[string(word)], a.Then)
			} else {
				require.Equal(t, word == "Yes", played.Right[i], a.Then)
			}
		}
	})
}

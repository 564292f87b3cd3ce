package lesson_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/lesson"
)

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

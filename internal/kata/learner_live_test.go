//go:build live

package kata

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata/folder"
	"lockkata/internal/term"
)

// With the tag live, all exercises and mistakes are tested.
func init() { sample = nil }

// climbs starts in an empty folder and solves the exercises before the last, each after its
// mistakes.
func (l *learner) climbs(last string) {
	l.t.Helper()
	for e := exercise(l.t, "1"); e.ID != last; e, _ = e.Next() {
		l.sees("exercise "+e.ID+": ", bar)
		for _, m := range mistakes() {
			if m.exercise.ID != e.ID || m.says == "" {
				continue
			}
			l.saves(m.files(), m.name, "exercise "+e.ID+": ", "\n\n")
			first := strings.TrimSpace(l.sees("\n"))
			if !m.compiles() {
				first = strings.TrimSpace(l.sees("\n\n"))
			}
			l.t.Logf("%s: %s", m.name, first)
			require.True(l.t, strings.HasPrefix(first, m.says), "%s: %s", m.name, first)
			l.sees(bar)
		}
		l.saves(filesOf(l.t, e.Solution), "our lock", "✓ passed: it survives all ", answers)
		l.presses("0", "No answer.", bar)
		l.presses("n", "It begins with ")
	}
	l.leaves()
}

func TestLearnerClimbsWithOneLockThatGrows(t *testing.T) {
	t.Parallel()
	sitDown(t, "", nil).climbs("r1")
}

func TestKeysBeforeAPass(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "3", func(s *loop) { s.view.Width = narrow })
	l.sees("Scenario delete-foreign", bar)
	misspelt := maps.Clone(filesOf(t, exercise(t, "3").Solution))
	misspelt["mutex.go"] = strings.Replace(misspelt["mutex.go"], "uuid.NewString()", "uuid.NewSring()", 1)
	l.saves(misspelt, "a typing error", "✗ it does not compile\n\n", "mutex.go:50: undefined: uuid.NewSring\n", bar)
	l.presses("\x1b[A\x00Z\xff") // invalid input, and a part of an arrow key
	l.presses("h", "Hint 1 of 3: ", bar)
	l.presses("h", "Hint for delete-foreign: ", bar)
	l.presses("d", "learner presses d\n--- start/mutex.go", "+	value := uuid.NewSring()", bar)
	l.presses("s", "You have not passed this exercise yet. Show the solution? Press y for yes, n for\nno.\n")
	l.presses("x", "\nThe question comes first: press y for yes, n for no.\n")
	l.presses("n", bar)
	l.presses("e", "The explanation comes when the exercise is passed.", bar)
	l.presses("r", "Press 1 for this exercise, a for all exercises, n\nfor neither.\n")
	l.presses("1", "exercise 3: ", "Exercise 3 begins again. It begins with the lock of stage 2.", "_copies/0", "Scenario delete-foreign", bar)
	l.presses("x", "The shortest way to break wrong-delete", "BROKEN: wrong delete", bar)
	require.NoError(t, l.keys.Close())
	require.NoError(t, <-l.ended, "the end of the keys ends the loop")
}

func TestLoopFollowsAnotherTerminal(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "2", nil)
	l.sees("exercise 2: One command", "Scenario crash-before-expire", bar)
	_, err := l.folder.Start(exercise(t, "3"), false)
	require.NoError(t, err)
	l.sees("exercise 3: ", "Your lock is in ", "exercise 3: ", "Scenario delete-foreign", bar)
	require.NoError(t, l.folder.Save(folder.Progress{Exercise: "4"}), "the same files")
	l.sees("exercise 4: ", "Your lock is in ", "exercise 4: ", "✗ ", bar)
	l.leaves()
}

// A terminal shows at once that a save was seen. A key that is no answer does not cost the question.
func TestPersonAtATerminal(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "2", func(s *loop) { s.isPerson, s.view.Color = true, true })
	l.sees(term.Clear, "exercise 2", term.EraseLine+"checking your lock  0 s", "Scenario crash-before-expire", "e why")
	l.saves(filesOf(t, exercise(t, "2").Solution), "our lock", term.EraseLine+"checking your lock  0 s", term.Clear, "✓ passed", answers)
	for _, stray := range []string{"7", "h"} {
		l.presses(stray, "The question comes first: press 1 to 3, or 0 to skip it.")
	}
	l.presses("2", "Right.", "The run shows: It has the lock, at the same time as B.", "e why")
	l.leaves()
}

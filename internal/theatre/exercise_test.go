package theatre

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata"
	"lockkata/internal/playground/interpreter"
	"lockkata/internal/texts"
)

// compiled are the exercises that the page leaves to a compiler, with what the interpreter
// says of their solutions.
var compiled = map[string]string{
	"6": "adapter.go:11:11: the package lockkata/failures_test is not to be had here: compile it instead, with go run . kata or go run . grade",
}

// An exercise is done in the page if its start and its solution can be interpreted, and is
// left to a compiler only if they cannot.
func TestExerciseIsInThePageIfItsLocksAreInterpreted(t *testing.T) {
	sources := os.DirFS("../..")
	all, err := exercises(sources, texts.English)
	require.NoError(t, err)
	left := map[string]string{}
	for _, e := range all {
		of, err := kata.Find(e.ID)
		require.NoError(t, err)
		for _, m := range []kata.Material{of.Start, of.Solution} {
			files, err := m.Files(sources)
			require.NoError(t, err)
			if _, problems := interpreter.Load("mylock", files); len(problems) > 0 {
				left[e.ID] = problems[0].Error()
			}
		}
		require.Equal(t, left[e.ID] != "", e.Files == nil, "%s: %s", e.ID, left[e.ID])
	}
	require.Equal(t, compiled, left)
}

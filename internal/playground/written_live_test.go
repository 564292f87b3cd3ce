//go:build live

package playground_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/kata"
	"lockkata/internal/playground"
)

// What the page says of a lock is what grade says of the same source, compiled.
func TestWrittenLockHasTheVerdictsOfGrade(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "mine.go"), []byte(mine), 0o600))
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	card, err := kata.Grade(t.Context(), root, folder, kata.Grading{Has: []string{"scripts", "watchdog"}})
	require.NoError(t, err)
	require.Nil(t, card.Compile)
	require.Nil(t, card.Cause, "%+v", card.Cause)
	require.Len(t, card.Cells, len(failures.All))

	e := engine(t)
	written := playground.Request{Op: "column", Stage: "5", Files: map[string]string{"mine.go": mine}}
	column := ask[playground.Column](t, e, written)
	broken := 0
	for i, cell := range column.Cells {
		require.Equal(t, card.Cells[i].Failure, cell.Failure)
		require.Equal(t, card.Cells[i].Letter, cell.Outcome, "%s: %s", cell.Failure, cell.Verdict)
		require.Empty(t, card.Cells[i].Again)
		if cell.Outcome == string(failures.Broken) {
			broken++
		}
	}
	require.Greater(t, broken, 10)
	require.Equal(t, string(failures.Broken), outcome(column, "work-outlives-ttl"), "what a watchdog is for")
	require.Equal(t, string(failures.Safe), outcome(ask[playground.Column](t, e, playground.Request{Op: "column", Stage: "5"}), "work-outlives-ttl"))

	written.Op, written.Failure = "run", "work-outlives-ttl"
	cell := ask[playground.Cell](t, e, written)
	raw, err := json.Marshal(cell.Run)
	require.NoError(t, err)
	require.Contains(t, string(raw), "mine.go")
}

func outcome(c playground.Column, failure string) string {
	for _, cell := range c.Cells {
		if cell.Failure == failure {
			return cell.Outcome
		}
	}
	return ""
}

// What the page asks of an exercise is red in its start, at what its lesson is about, and
// green in its solution.
func TestExercisesAreRedAtTheirStartAndGreenAtTheirEnd(t *testing.T) {
	e := engine(t)
	for _, exercise := range kata.All {
		if exercise.ID != exercise.Base || exercise.Solution.Adapter != "" {
			continue
		}
		check := func(m kata.Material) playground.Column {
			files, err := m.Files(os.DirFS("../.."))
			require.NoError(t, err)
			return ask[playground.Column](t, e, playground.Request{Op: "column", Stage: exercise.Base, Files: files, Required: exercise.Required()})
		}
		start, end := check(exercise.Start), check(exercise.Solution)
		require.Contains(t, exercise.Fixes, start.Red, exercise.ID)
		require.Equal(t, start.Red, start.Cells[len(start.Cells)-1].Failure, "it ends there")
		require.Empty(t, end.Red, exercise.ID)
		require.Len(t, end.Cells, len(exercise.Required()))
	}
}

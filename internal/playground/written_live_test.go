//go:build live

package playground_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/kata"
	"lockkata/internal/kata/judge"
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

// What the page says of the start and of the solution of an exercise is what kata says of
// them, compiled: cell by cell, and which failure is told first.
func TestExercisesHaveTheVerdictsOfKata(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	type lock struct {
		of      kata.Exercise
		isStart bool
		files   kata.Files
	}
	var locks []lock
	var all []kata.Files
	for _, e := range kata.All {
		if e.Solution.Adapter != "" {
			continue
		}
		for i, m := range []kata.Material{e.Start, e.Solution} {
			files, err := m.Files(os.DirFS(root))
			require.NoError(t, err)
			locks, all = append(locks, lock{e, i == 0, files}), append(all, files)
		}
	}
	program, err := kata.Build(t.Context(), root, all...)
	require.NoError(t, err)
	defer program.Close()
	e := engine(t)
	for _, l := range locks {
		task := judge.Task{Has: columns.Must(l.of.Base).Subject.Has, Required: l.of.Required(), Patience: 4}
		report, err := program.Judge(t.Context(), l.files, task)
		require.NoError(t, err)
		asked := playground.Request{Op: "column", Stage: l.of.Base, Files: l.files}
		if report.Cause != nil { // a failure behind the first red one ruins the run
			require.True(t, l.isStart && l.of.ID == l.of.Base, "%s: %+v", l.of.ID, report.Cause)
		} else {
			require.Len(t, report.Verdicts, len(failures.All))
			requireSameVerdicts(t, l.of.ID, report, ask[playground.Column](t, e, asked))
		}
		asked.Required = task.Required
		column := ask[playground.Column](t, e, asked)
		if len(report.Verdicts) > 0 { // else it does not get through an ordinary day, which comes first
			requireSameVerdicts(t, l.of.ID, report, column)
		}
		if !l.isStart {
			require.True(t, report.Passed(task.Required), "%s: %+v", l.of.ID, report.Cause)
			require.Empty(t, column.Red, l.of.ID)
			require.Len(t, column.Cells, len(task.Required))
			continue
		}
		require.Contains(t, l.of.Fixes, column.Red, l.of.ID)
		if outcome(column, column.Red) != string(failures.NotTold) {
			require.Equal(t, column.Red, column.Cells[len(column.Cells)-1].Failure, "it ends there")
		}
		if len(report.Verdicts) > 0 {
			require.Equal(t, report.Red()[0].Failure, column.Red, l.of.ID)
		}
	}
}

// requireSameVerdicts wants each cell to be what the compiled lock was told, with the line
// where its run is there.
func requireSameVerdicts(t *testing.T, exercise string, report kata.Report, column playground.Column) {
	t.Helper()
	for _, cell := range column.Cells {
		v := report.Verdict(cell.Failure)
		require.Equal(t, v.Letter, cell.Outcome, "%s, %s: %s", exercise, v.Failure, cell.Verdict)
		switch outcome := failures.Outcome(v.Letter[0]); {
		case outcome == failures.Safe:
		case v.Trace != nil && (outcome == failures.Broken || outcome == failures.Inherent):
			f, _ := failures.Find(v.Failure)
			told := failures.Verdict{Failure: f, Outcome: outcome, Findings: v.Findings, Trace: v.Trace}
			require.Equal(t, told.Headline(), cell.Verdict, "%s, %s", exercise, v.Failure)
		default:
			require.Contains(t, cell.Verdict, v.Sentence, "%s, %s", exercise, v.Failure)
		}
	}
}

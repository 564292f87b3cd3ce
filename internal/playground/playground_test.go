package playground_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/playground"
)

// ask asks an engine, and reads its answer.
func ask[A any](t *testing.T, e *playground.Engine, r playground.Request) A {
	t.Helper()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	var answer struct {
		Value A
		Error string
	}
	text := e.Answer(raw, func(playground.Progress) bool { return false })
	require.NoError(t, json.Unmarshal(text, &answer))
	require.Empty(t, answer.Error)
	require.NoError(t, json.Unmarshal(text, &answer.Value))
	return answer.Value
}

func engine(t *testing.T) *playground.Engine { return playground.New(t, os.DirFS("../.."), nil) }

func TestGameIsPlayedByRequests(t *testing.T) {
	e := engine(t)
	p := ask[playground.Position](t, e, playground.Request{Op: "game", Stage: "3"})
	require.Equal(t, "wrong-delete", p.View.Goal.Name)
	require.Len(t, p.Files, 1)
	for range 20 {
		p = ask[playground.Position](t, e, playground.Request{Op: "hint"})
		if p.Hint.Option < 0 {
			break
		}
		p = ask[playground.Position](t, e, playground.Request{Op: "choose", Option: p.Hint.Option})
	}
	require.NotEmpty(t, p.View.Findings)
	require.Contains(t, p.Verdict.Text, "BROKEN: wrong delete")
	t.Log(p.View.Schedule, p.Verdict)
	again := ask[playground.Position](t, e, playground.Request{Op: "replay", Stage: "3", Schedule: p.View.Schedule})
	require.Equal(t, p.Run, again.Run)
}

func TestRunIsTakenOverAtAStepAndEndsOtherwise(t *testing.T) {
	e := engine(t)
	cell := ask[playground.Cell](t, e, playground.Request{Op: "run", Stage: "3", Failure: "check-then-delete"})
	require.Equal(t, "x", cell.Outcome)
	for step := range cell.Run.Steps {
		p := ask[playground.Position](t, e, playground.Request{Op: "take", Stage: "3", Failure: "check-then-delete", Step: step + 1})
		t.Log(step+1, cell.Run.Steps[step].Says, "|", len(p.Run.Steps), p.View.Schedule, len(p.View.Options), p.View.Goal.Name)
	}
}

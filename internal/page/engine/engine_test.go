package engine

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// ask sends a request and returns the answer.
func ask[A any](t *testing.T, e *Engine, r Request) A {
	t.Helper()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	var answer struct {
		Value A
		Error string
	}
	text := e.Answer(raw, func(Progress) bool { return false })
	require.NoError(t, json.Unmarshal(text, &answer))
	require.Empty(t, answer.Error)
	require.NoError(t, json.Unmarshal(text, &answer.Value))
	return answer.Value
}

func newEngine(t *testing.T) *Engine { return New(t, os.DirFS("../../.."), nil) }

func TestGameIsPlayedByRequests(t *testing.T) {
	e := newEngine(t)
	p := ask[Position](t, e, Request{Op: "game", Stage: "3"})
	require.Equal(t, "wrong-delete", p.View.Goal.Name)
	require.Len(t, p.Files, 1)
	for range 20 {
		p = ask[Position](t, e, Request{Op: "hint"})
		if p.Hint.Option < 0 {
			break
		}
		p = ask[Position](t, e, Request{Op: "choose", Option: p.Hint.Option})
	}
	require.NotEmpty(t, p.View.Findings)
	require.Contains(t, p.Verdict, "BROKEN: wrong delete")
	t.Log(p.View.Schedule, p.Verdict)
	again := ask[Position](t, e, Request{Op: "replay", Stage: "3", Schedule: p.View.Schedule})
	require.Equal(t, p.Run, again.Run)
}

// The commands that a player can choose are on their way.
func TestCommandsThatCanBeChosenAreUnderWay(t *testing.T) {
	e := newEngine(t)
	p := ask[Position](t, e, Request{Op: "game", Stage: "3"})
	underWay := func() (lanes []int) {
		for _, m := range p.Run.Moves {
			if m.Sent > 0 && m.Executed == 0 {
				lanes = append(lanes, m.Lane)
			}
		}
		return lanes
	}
	require.Equal(t, []int{0, 1}, underWay(), "each client's SET")
	p = ask[Position](t, e, Request{Op: "choose"})
	require.Equal(t, []int{1}, underWay())
}

func TestCommandsGoToTheMasterOfTheMoment(t *testing.T) {
	run := ask[Cell](t, newEngine(t), Request{Op: "run", Stage: "6", Failure: "failover-async"}).Run
	masters := [][]int{}
	for _, m := range run.Moves {
		if !m.Ledger {
			masters = append(masters, m.Servers)
		}
	}
	require.Equal(t, [][]int{{0}, {1}, {1}}, masters)
}

// With the tag live, TestEveryRunIsTakenOver takes all runs over.
func TestRunIsTakenOverInTheMiddle(t *testing.T) {
	e := newEngine(t)
	for i, f := range catalogue.All {
		if i%10 == 0 && failures.Applies(f, stages.MustFind("6.4").Subject) {
			cell := ask[Cell](t, e, Request{Op: "run", Stage: "6.4", Failure: f.ID})
			takeOver(t, e, "6.4", cell, f.ID, 1+len(cell.Run.Steps)/2)
		}
	}
}

// takeOver takes a run over after a step: the game begins with the run as drawn up to there,
// and its string replays it.
func takeOver(t *testing.T, e *Engine, stage string, cell Cell, failure string, step int) {
	t.Helper()
	p := ask[Position](t, e, Request{Op: "take", Stage: stage, Failure: failure, Step: step})
	require.Equal(t, failure, p.Taken)
	// A command is drawn only once time has passed or it is delayed, perhaps after the step.
	arrived := func(steps []Step) []Step {
		return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Kind == "sent" })
	}
	for i, s := range arrived(cell.Run.Steps[:step-1]) { // the reply of this step may not be read yet
		now := arrived(p.Run.Steps)[i]
		require.Equal(t, s.Kind+" "+s.At, now.Kind+" "+now.At, "%s on %s, taken over after step %d", failure, stage, step)
		text := strings.ReplaceAll(now.Text, cmp.Or(cell.Run.Key, "no key"), "K") // the key has no name before it exists
		require.Equal(t, s.Text, text, "%s on %s, taken over after step %d", failure, stage, step)
	}
	again := ask[Position](t, e, Request{Op: "replay", Stage: stage, Schedule: p.View.Schedule})
	require.Equal(t, p.Run, again.Run, "%s on %s: %s", failure, stage, p.View.Schedule)
}

func TestTakenOverRunEndsDifferently(t *testing.T) {
	e := newEngine(t)
	cell := ask[Cell](t, e, Request{Op: "run", Stage: "3", Failure: "check-then-delete"})
	require.Equal(t, "x", cell.Outcome)
	require.Equal(t, "A sends GET K, and Redis answers A1.", cell.Run.Steps[4].Says)
	p := ask[Position](t, e, Request{Op: "take", Stage: "3", Failure: "check-then-delete", Step: 5})
	require.Equal(t, "v1/stage3/check-then-delete@9/1x/pause/wrong-delete/", p.View.Schedule)
	for len(p.View.Options) > 0 { // no process is paused before the DEL
		p = ask[Position](t, e, Request{Op: "choose"})
	}
	require.Empty(t, p.View.Findings)
	require.Equal(t, "SAFE in this run: no rule is broken.", p.Verdict)
	p = ask[Position](t, e, Request{Op: "take", Stage: "3", Failure: "check-then-delete", Step: 12})
	for len(p.View.Options) > 0 { // too late: A's DEL is on its way, and B holds the lock
		p = ask[Position](t, e, Request{Op: "choose"})
	}
	require.Contains(t, p.Verdict, "BROKEN: wrong delete: A's DEL removes the lock of B (B1)")
}

func TestCatalogueHasTheExpectedOutcomes(t *testing.T) {
	e := newEngine(t)
	results := ask[Catalogue](t, e, Request{Op: "catalogue", Stage: "6.1"})
	require.Len(t, results.Cells, len(catalogue.All))
	for i, f := range catalogue.All {
		require.Equal(t, string(rune(stages.MustFind("6.1").Expect(f))), results.Cells[i].Outcome, f.ID)
		require.Empty(t, results.Cells[i].Was)
	}
}

func TestLongRequestsCanBeStoppedAndReportProgress(t *testing.T) {
	e := newEngine(t)
	for op, request := range map[string]string{
		"catalogue": `{"op": "catalogue", "stage": "2"}`, "search": `{"op": "search", "stage": "6", "goal": "exclusion", "env": "async", "bound": 3}`,
	} {
		var progress []Progress
		answer := e.Answer([]byte(request), func(p Progress) bool {
			progress = append(progress, p)
			return len(progress) == 4
		})
		require.Len(t, progress, 4, op)
		require.Equal(t, 3, progress[3].Done, op)
		require.Contains(t, string(answer), map[string]string{"catalogue": `"stopped":true`, "search": `"exhausted":false`}[op])
	}
}

// A page may send invalid requests.
func TestInvalidRequestIsAnError(t *testing.T) {
	e := newEngine(t)
	for request, says := range map[string]string{
		`{`:                            "unexpected end",
		`{"op": "choose"}`:             "no game has begun",
		`{"op": "what"}`:               `there is no request \"what\"`,
		`{"op": "game", "stage": "9"}`: `there is no stage \"9\"`,
		`{"op": "game", "stage": "1", "goal": "x"}`:                                               `there is no property \"x\"`,
		`{"op": "lock", "stage": "2", "edit": "x"}`:                                               `there is no edit \"x\" of stage 2`,
		`{"op": "run", "stage": "2", "failure": "x"}`:                                             `there is no failure \"x\"`,
		`{"op": "take", "stage": "2", "failure": "late-unlock", "step": 99}`:                      "no step 99",
		`{"op": "take", "stage": "1", "failure": "wake-lost", "step": 1}`:                         "has no run on stage 1",
		`{"op": "replay", "stage": "2", "schedule": "v1/stage2/x@1/1x/async/leak/"}`:              "there is no failure",
		`{"op": "replay", "stage": "2", "schedule": "v1/stage2/late-unlock@x/1x/async/leak/"}`:    "the number of events",
		`{"op": "lock", "stage": "2", "edit": "nx-dropped"}`:                                      "this build has no edited locks",
		`{"op": "search", "stage": "2", "goal": "leak", "env": "calm"}`:                           "there is no environment",
		`{"op": "replay", "stage": "2", "schedule": "v1/stage2~00000000/2c/1x/async/exclusion/"}`: "a lock that is not here",
	} {
		require.Contains(t, string(e.Answer([]byte(request), func(Progress) bool { return false })), says, request)
	}
}

func TestLockIsDescribedWithItsEdits(t *testing.T) {
	lock := ask[Lock](t, newEngine(t), Request{Op: "lock", Stage: "2"})
	require.Equal(t, "stage 2", lock.Name)
	require.Equal(t, Question{Property: "wrong-delete", Env: "async"}, lock.Search)
	seen := map[string]bool{}
	for _, e := range lock.Edits {
		require.False(t, seen[e.ID], "%s is there twice", e.ID)
		seen[e.ID] = true
		lines := strings.Split(lock.Files[0].Text, "\n")
		first, _, _ := strings.Cut(e.Old, "\n")
		require.Contains(t, lines[e.Line-1], first)
	}
	require.True(t, seen["nx-dropped"])
}

package game

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	goleak.VerifyTestMain(m)
}

// challenged returns a game of a lock, for two clients that try once.
func challenged(t *testing.T, lock stages.Stage, s Settings) *Game {
	t.Helper()
	s.Clients, s.Attempts = 2, 1
	c, err := s.Of(lock)
	require.NoError(t, err)
	g, err := New(t, c)
	require.NoError(t, err)
	return g
}

// played returns a game of a stage after some steps.
func played(t *testing.T, id string, s Settings, steps ...string) *Game {
	t.Helper()
	g := challenged(t, stages.MustFind(id), s)
	require.NoError(t, g.Set(steps))
	return g
}

func view(t *testing.T, g *Game) View {
	t.Helper()
	v, err := g.View()
	require.NoError(t, err)
	return v
}

func TestViewDescribesEachClient(t *testing.T) {
	v := view(t, played(t, "3", Settings{Goal: "exclusion"}, "b", "B", "a"))
	require.Equal(t, "lock:order:1001", v.Key)
	require.Equal(t, Named{"exclusion", "let two clients hold the lock at once"}, v.Goal)
	a, b := v.Clients[0], v.Clients[1]
	require.Equal(t, "TryLock: hasn't read yet: (nil)", a.Does)
	require.Equal(t, "stage3_owner_value/mutex.go", a.Source.File)
	require.False(t, a.Inside)
	require.Equal(t, "asks the ledger whether it has the order tea", b.Does)
	require.True(t, b.Inside)
	require.False(t, b.Beside)
	require.Equal(t, []Key{{Owner: "B1", Left: v.Lease}}, v.Keys)
	require.Equal(t, []string{"Redis executes SET K A? NX PX 30000 for A, and answers (nil)."}, v.Happened)
	require.Equal(t, []Option{
		{Token: "A", Text: "A reads (nil)"},
		{Token: "b", Text: "the ledger tells B whether it has the order tea", Fault: true},
		{Token: "t", Text: "time passes, to 30s. The lease ends, and Redis removes the key.", Fault: true},
	}, v.Options)
	require.Equal(t, "3 steps, 1 fault", v.Length)
	require.Equal(t, "v1/stage3/2c/1x/async/exclusion/b.B.a", v.Schedule)
	require.Empty(t, v.Findings)
	raw, err := json.Marshal(view(t, played(t, "3", Settings{})))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "null", "an empty list is one")
}

func TestUndoRestartAndSetLeadToTheSamePlaces(t *testing.T) {
	g := played(t, "3", Settings{})
	first := view(t, g)
	require.NoError(t, g.Undo(), "there is nothing to undo")
	require.NoError(t, g.Choose(1))
	second := view(t, g)
	require.NoError(t, g.Choose(1))
	require.NoError(t, g.Undo())
	require.Equal(t, second, view(t, g))
	require.NoError(t, g.Restart())
	require.Equal(t, first, view(t, g))
	require.NoError(t, g.Set([]string{"b"}))
	require.EqualError(t, g.Choose(3), "there is no option 3: there are 3")
	require.Error(t, g.Choose(-1))
	require.ErrorContains(t, g.Set([]string{"b", "b", "a", "a"}), "is not possible")
	require.Equal(t, second, view(t, g))
}

func TestClientsAreFrozenDeadAndDone(t *testing.T) {
	g := played(t, "1", Settings{Goal: "leak", Env: "crash"}, "b", "xb")
	v := view(t, g)
	require.True(t, v.Clients[1].Dead)
	require.Equal(t, "is dead", v.Clients[1].Does)
	require.Equal(t, []Key{{Owner: "locked (B1)", Stays: true}}, v.Keys)
	require.Equal(t, "leak", string(v.Findings[0].Rule))
	require.Empty(t, v.Options, "nothing comes after the goal")
	require.NoError(t, g.Undo())
	require.True(t, g.Won, "won is won")

	v = view(t, played(t, "5", Settings{Goal: "damage", Env: "pause"}, "a", "A", "za"))
	require.True(t, v.Clients[0].Frozen)
	require.Equal(t, "stands still: asks the ledger whether it has the order tea", v.Clients[0].Does)
	for _, c := range view(t, played(t, "4", Settings{}, "a", "t", "A", "b", "B")).Clients {
		require.True(t, c.Inside && c.Beside, c.Name)
	}
	v = view(t, played(t, "2", Settings{}, "a", "A", "b", "B"))
	require.Equal(t, "has finished (no: another client has it)", v.Clients[1].Does)
	v = view(t, played(t, "5", Settings{}, "a", "A", "t"))
	require.Equal(t, "sends EVALSHA renew 1 K A1 30000", v.Clients[0].Background[0].Text)
}

// wonByHints follows the hints to the goal, and returns their reasons.
func wonByHints(t *testing.T, g *Game) (whys []string) {
	t.Helper()
	for !g.Reached() {
		h, err := g.Hint()
		require.NoError(t, err)
		require.Regexp(t, `^[A-Z][^{}]*\.$`, h.Why)
		require.Equal(t, h.Away, len(g.ways[0])-len(g.Steps()))
		whys = append(whys, h.Why)
		require.NoError(t, g.Choose(h.Option))
	}
	return whys
}

// From each position hints lead to the goal, each with a reason.
func TestHintsHaveReasons(t *testing.T) {
	g := played(t, "3", Settings{}, "a")
	require.Equal(t, []string{
		"A learns that it has the lock, and acts on it.",
		"A learns how things are now. They can be different by the time it acts.",
		"A writes now, whoever holds the lock.",
		"A learns how things are now. They can be different by the time it acts.",
		"A goes on only after it has read this reply.",
		"The lease ends, and its client doesn't know it yet.",
		"B needs the lock, and there is no key.",
		"That breaks the rule: A's DEL removes the lock of B (B1).",
	}, wonByHints(t, g))
	require.Equal(t, "You did it in 9 steps, 3 faults. You took 8 hints.", view(t, g).Score)
	h, err := g.Hint()
	require.NoError(t, err)
	require.Equal(t, Hint{Option: -1, Why: "No step is possible any longer."}, h)

	h, err = played(t, "3", Settings{Env: "short-pauses"}).Hint()
	require.NoError(t, err)
	require.Equal(t, Hint{Option: -1, Why: "No way is known: there is none with up to 4 faults."}, h)
}

// The hints solve the challenge of each stage, with a reason for each step and in no more steps
// than the suite's search needed.
func TestEveryChallengeIsWonByItsHints(t *testing.T) {
	for _, c := range stages.Table {
		g := challenged(t, c, Settings{})
		require.NoError(t, g.FindPar())
		wonByHints(t, g)
		require.Equal(t, c.Challenge, g.Text())
		require.Equal(t, c.Search(g.Property.Name, g.Env.Name), fmt.Sprintf("%d/%d", g.at.Faults(), len(g.Steps())), c.ID)
		require.Contains(t, view(t, g).Score, "The best way takes "+view(t, g).Length+".")
	}
}

// The best way on a stage may not be the best on its edited lock: that needs a search of its lock.
func TestBestWayOnAnEditedLockIsUnknown(t *testing.T) {
	edited := stages.MustFind("1")
	edited.Subject.Name = schedule.ForeignName("stage1", "edited")
	g := challenged(t, edited, Settings{})
	require.False(t, g.KnowsWay(), "it is the stage's")
	require.Empty(t, view(t, g).Par)
	h, err := g.Hint()
	require.NoError(t, err)
	require.Equal(t, 2, h.Away, "but a way it is")
	g.ways[0] = slices.Concat(g.ways[0], g.ways[0]) // as if the stage's way were longer than this lock's
	require.NoError(t, g.FindPar())
	wonByHints(t, g)
	require.Equal(t, "You did it in 2 steps, 1 fault. The best way takes 2 steps, 1 fault. You took 3 hints.", view(t, g).Score)
}

func TestStoppedSearchReportsItsProgress(t *testing.T) {
	for runs, par := range map[int]string{
		0: "No way is known: 0 schedules don't get there.", 40: "No way is known: there is none with up to 0 faults.",
		2000: "The best known way takes 15 steps, 2 faults.",
	} {
		g := played(t, "1", Settings{Goal: "damage"})
		g.Stop = func(p schedule.Progress) bool { return p.Runs >= runs }
		require.NoError(t, g.FindPar())
		require.Equal(t, par, view(t, g).Par)
	}
}

func TestTakenOverRunHasTheRuleOfItsFailure(t *testing.T) {
	f, _ := catalogue.Find("delete-foreign")
	for goal, s := range map[string]Settings{"wrong-delete": {}, "leak": {Goal: "leak"}} {
		s.Clients, s.Attempts = 2, 1
		taken, err := s.Taken(stages.MustFind("1"), f, 3)
		require.NoError(t, err)
		require.Equal(t, goal, taken.Property.Name)
		require.Equal(t, "pause", taken.Env.Name)
	}
}

func TestEveryPropertyIsAGoal(t *testing.T) {
	for _, p := range schedule.Properties {
		require.NotEmpty(t, Goals[p.Name].Words, p.Name)
		_, err := schedule.FindEnv(Goals[p.Name].Env)
		require.NoError(t, err)
	}
}

// A schedule's string names its lock by a stage's ID or by its subject's name.
func TestStringsReplayOnTheirOwnLockOnly(t *testing.T) {
	const rest = "2c/1x/crash/leak/b.xb"
	for _, name := range []string{"stage1", "1"} {
		g, err := Replay(t, "v1/"+name+"/"+rest, stages.Table)
		require.NoError(t, err)
		require.True(t, g.Reached())
		require.Equal(t, "v1/stage1/"+rest, g.Text())
	}
	edited := stages.MustFind("1")
	edited.ID, edited.Subject.Name = "mine", schedule.ForeignName("mine", "package mine\n")
	g, err := Replay(t, fmt.Sprintf("v1/%s/%s", edited.Subject.Name, rest), []stages.Stage{stages.MustFind("2"), edited})
	require.NoError(t, err)
	require.True(t, g.Reached())
	require.Regexp(t, `^v1/mine~[0-9a-f]{8}/2c/1x/crash/leak/b\.xb$`, g.Text())
	_, _, err = Read(g.Text(), stages.Table)
	require.EqualError(t, err, fmt.Sprintf("the schedule is one of %q, a lock that is not here: "+
		"it replays only where that lock is, as it was then", edited.Subject.Name))
	_, _, err = Read(fmt.Sprintf("v1/%s/%s", schedule.ForeignName("mine", "package mine // edited\n"), rest), []stages.Stage{edited})
	require.ErrorContains(t, err, "a lock that is not here", "an edit makes another name")
	for text, says := range map[string]string{
		"v1/stage9/" + rest:                   `there is no lock "stage9" to schedule: there are stage1, stage2`,
		"v1/stage3/4c/1x/async/leak/b":        `"4c" in the schedule: there are 2c or 3c`,
		"v1/stage3/2c/1x/async/leak/b.q":      `step 2 of the schedule, "q", is no step`,
		"v1/stage3/2c/1x/async/wake-up/b":     "wake-up is about pub/sub, which stage 3 does not have; there are leak, wrong-delete",
		"v1/stage1/2c/1x/crash/leak":          "is not a schedule",
		"v1/stage1/2c/1x/crash/leak/B.B.B.xb": "step 1, B, is not possible",
	} {
		_, err := Replay(t, text, stages.Table)
		require.ErrorContains(t, err, says)
	}
}

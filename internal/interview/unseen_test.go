package interview

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// many are predictions for several seeds, found once.
var many []Prediction

func some(t *testing.T) []Prediction {
	t.Helper()
	const each = 2
	for len(many) < 60 {
		p, err := (&Finder{T: t, Seed: uint64(len(many) / each)}).Find(1 + len(many)%each)
		require.NoError(t, err)
		many = append(many, p)
	}
	return many
}

// truth computes the answer independently of the prediction.
func truth(p Prediction, tr *trace.Trace) string {
	events := slices.Clone(tr.Events)
	slices.Reverse(events)
	last := func(is func(trace.Event) bool) (e trace.Event) {
		if i := slices.IndexFunc(events, is); i >= 0 {
			e = events[i]
		}
		return e
	}
	if p.Question.Text == whoIsInside {
		var inside []string
		for _, client := range []string{"A", "B"} {
			decides := last(func(e trace.Event) bool {
				return e.Client == client && (e.Acquires() || e.Kind == trace.Lost || e.Kind == trace.Crashed || e.Kind == trace.Called && e.Op == trace.OpUnlock)
			})
			if decides.Acquires() {
				inside = append(inside, client)
			}
		}
		return cmp.Or(strings.Join(inside, " and "), "nobody")
	}
	if p.Question.Text == whoseKey {
		for _, k := range last(func(e trace.Event) bool { return e.Kind == trace.Executed || e.Kind == trace.Expired }).Keys {
			if k.Name == tr.LockKey() {
				return k.Owner.Client
			}
		}
		return "nobody"
	}
	switch e := last(func(e trace.Event) bool { return e.Kind == trace.Returned }); {
	case e.Result.Held:
		return "it has the lock"
	case e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone:
		return "that it has unlocked"
	case e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimRefused:
		return "an error: the lock is not, or no longer, its own"
	case e.Result.Error != "":
		return "an error"
	}
	return "no: another client has the lock"
}

func TestMarkedAnswerIsTheOutcomeOfTheRun(t *testing.T) {
	asked, answers, stages, broken := map[i18n.Text]int{}, map[string]int{}, map[string]bool{}, 0
	for _, p := range some(t) {
		var astray error
		played, err := schedule.Play(t, p.Setup, schedule.Follow(p.Steps, &astray))
		require.NoError(t, err)
		require.NoError(t, astray)
		require.Equal(t, truth(p, played.Trace), p.Choices[p.Answer].Error(), "%s: %s", p.Text(), p.Question.Error())
		require.Len(t, p.Trace.Events, len(played.Trace.Events))
		asked[p.Question.Text]++
		answers[p.Choices[p.Answer].Error()]++
		stages[p.Stage.ID] = true
		if len(oracle.Judge(played.Trace)) > 0 {
			broken++
		}
	}
	require.Len(t, asked, 3, "every question is asked: %v", asked)
	require.Len(t, stages, 6)
	require.Greater(t, len(answers), 7, "%v", answers)
	require.InDelta(t, len(many)/2, broken, float64(len(many))*0.3, "nobody can guess: some schedules break something, and some do not")
}

// The steps after the picture must not give the answer away: each command in them was already sent
// in the picture.
func TestHiddenStepsWereAlreadySentInThePicture(t *testing.T) {
	for _, p := range some(t) {
		sent := map[string]int{}
		for i, e := range p.Trace.Events {
			switch {
			case e.Kind == trace.Sent, e.Kind == trace.Called && (e.Op == trace.OpCheck || e.Op == trace.OpInsert):
				if i < p.Shown {
					sent[e.Client]++
				}
			case e.Kind == trace.Executed, e.Kind == trace.Stored:
				sent[e.Client]--
				require.GreaterOrEqual(t, sent[e.Client], 0, "%s: %d", p.Text(), i)
			}
		}
		require.NotEmpty(t, p.Next)
		require.LessOrEqual(t, len(p.Next), most)
		for _, said := range append(p.Next, p.Question) {
			require.NotRegexp(t, `\{[a-z]+\}`, said.Error())
			require.NotEqual(t, said.Error(), said.Localize(i18n.Chinese))
		}
	}
}

func TestSameSeedSamePrediction(t *testing.T) {
	p, err := (&Finder{T: t, Seed: 2}).Find(1)
	require.NoError(t, err)
	again, err := (&Finder{T: t, Seed: 2}).Find(1)
	require.NoError(t, err)
	require.Equal(t, p.Text(), again.Text())
	require.Equal(t, p.Question, again.Question)
}

// A prediction's schedule ends at the moment that is asked about. Its replay must not say that the lock
// is safe if it breaks its property without another fault.
func TestVerdictOfAPredictionHoldsALeaseLater(t *testing.T) {
	changed := 0
	for seed := range uint64(200) {
		p, err := (&Finder{T: t, Seed: seed}).Find(1)
		require.NoError(t, err)
		var astray error
		follow, steps, cut := schedule.Follow(p.Steps, &astray), 0, p.Trace.Events[len(p.Trace.Events)-1].At
		later, err := schedule.Play(t, p.Setup, func(at schedule.Point) (int, bool) {
			if steps++; steps <= len(p.Steps) {
				return follow(at)
			}
			return at.Default, at.World.Now() < cut+p.Trace.Lease
		})
		require.NoError(t, err)
		require.NoError(t, astray)
		decided, err := game.Decide(t, p.Setup, p.Steps)
		require.NoError(t, err)
		require.Equal(t, len(later.Broken(p.Setup.Property.Breaks)) > 0, len(decided.Found) > 0, p.Text())
		if cut, err := game.Follow(t, p.Setup, p.Steps); err == nil && len(cut.Found) < len(decided.Found) {
			changed++
			require.Greater(t, len(decided.Schedule), len(p.Steps))
		}
	}
	require.Greater(t, changed, 5, "some schedules end before their property is decided")
}

package interview

import (
	"cmp"
	"os"
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

// Each answer has a reason with an entry of the documents. What the reason says of the key is so.
func TestAnswersHaveReasons(t *testing.T) {
	places := map[string]bool{}
	for _, l := range i18n.Languages {
		themes, err := Parse(os.DirFS("../.."), l)
		require.NoError(t, err)
		for _, q := range Order(themes, 1, "", 0) {
			places[q.Place] = true
		}
	}
	given := map[i18n.Text]int{}
	for _, p := range some(t) {
		for _, l := range i18n.Languages {
			require.True(t, places[folder.Localize(l)+"/"+p.Entry], p.Entry)
			require.NotRegexp(t, `\{[a-z]+\}|  `, p.Why.Localize(l))
		}
		given[p.Why.Text]++
		why, owner, client := p.Why.Error(), game.KeyOwner(p.Trace)[:1], p.Why.Error()[:1]
		i := slices.IndexFunc(p.Trace.Events[p.Shown:], func(e trace.Event) bool { return e.Kind == trace.Returned })
		if p.Question.Text == whatReturned && p.Choices[p.Answer].Text == meanings["refused"] {
			isOwn := owner == p.Trace.Events[p.Shown+i].Client
			require.Equal(t, isOwn, p.Why.Text == reasons["refused, own"].why, "%s: %s", p.Text(), why)
		}
		isLost := slices.ContainsFunc(p.Trace.Events, func(e trace.Event) bool { return e.Kind == trace.Dropped })
		switch p.Why.Text {
		case reasons["refused, own"].why:
			require.Contains(t, why, "The key is "+owner+"'s own: ")
			require.True(t, isLost && p.Stage.ID != "6", "stage 6 sends its commands once")
		case reasons["refused with an error, own"].why:
			require.True(t, isLost && p.Stage.ID != "6", "stage 6 sends its commands once")
		case reasons["installed"].why:
			require.Equal(t, owner, client)
		case reasons["lapsed"].why, reasons["removed"].why:
			require.Equal(t, "n", owner, "no key")
		case reasons["two are inside"].why:
			require.Len(t, p.Trace.End().Insiders(), 2)
		}
	}
	require.Greater(t, len(given), 8, "%v", given)
}

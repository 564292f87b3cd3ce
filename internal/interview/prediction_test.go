package interview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// many are predictions of several seeds, found once.
var many []Prediction

func some(t *testing.T, n int) []Prediction {
	t.Helper()
	const each = 2
	if testing.Short() {
		n = min(n, 12)
	}
	for len(many) < n {
		p, err := (&Finder{T: t, Seed: uint64(len(many) / each)}).Find(1 + len(many)%each)
		require.NoError(t, err)
		many = append(many, p)
	}
	return many[:n]
}

// answer finds the answer to a question in another way than the prediction does.
func answer(t *testing.T, p Prediction) string {
	t.Helper()
	var astray error
	played, err := schedule.Play(t, p.Setup, schedule.Follow(p.Steps, &astray))
	require.NoError(t, err)
	require.NoError(t, astray)
	events := slices.Clone(played.Trace.Events)
	slices.Reverse(events)
	switch p.Kind {
	case AskCall:
		i := slices.IndexFunc(events, func(e world.Event) bool { return e.Kind == world.Returned && e.Client == p.Client })
		require.Equal(t, p.Op, events[i].Op)
		switch r := events[i].Result; {
		case r.Held:
			return "it has the lock"
		case p.Op == world.OpUnlock && r.Claim == world.ClaimDone:
			return "that it has unlocked"
		case p.Op == world.OpUnlock && r.Claim == world.ClaimRefused:
			return "an error: the lock is not, or no longer, its own"
		case r.Error != "":
			return "an error"
		}
		return "no: another client has the lock"
	case AskKey:
		i := slices.IndexFunc(events, func(e world.Event) bool { return e.Kind == world.Executed || e.Kind == world.Expired })
		for _, k := range events[i].Keys {
			if strings.HasSuffix(k.Name, ":token") {
				continue
			}
			with := "with"
			if k.TTL == world.NoTTL {
				with = "without"
			}
			return fmt.Sprintf("the key of %s, %s a lease (%s)", k.Owner.Client, with, k.Owner.Label)
		}
		return "nothing: there is no key"
	case AskInside:
		var inside []string
		for _, client := range played.Trace.Lanes {
			i := slices.IndexFunc(events, func(e world.Event) bool { // what decides last about this client
				return e.Client == client && (e.Kind == world.Returned && e.Result.Held || e.Kind == world.Lost ||
					e.Kind == world.Crashed || e.Kind == world.Called && e.Op == world.OpUnlock)
			})
			if i >= 0 && events[i].Kind == world.Returned {
				inside = append(inside, client)
			}
		}
		if len(inside) == 0 {
			return "nobody"
		}
		return strings.Join(inside, " and ")
	}
	if oracle.Violates(oracle.Judge(played.Trace), p.Setup.Property.Breaks...) {
		return "yes, it is broken"
	}
	return "no, it is not broken"
}

// isTrue tells whether the marked answer is what the world does, once more.
func isTrue(t *testing.T, p Prediction) error {
	_, err := p.Run(t)
	return err
}

func TestMarkedAnswerIsWhatTheWorldDoes(t *testing.T) {
	asked, said, stages := map[Kind]int{}, map[string]int{}, map[string]bool{}
	for _, p := range some(t, 40) {
		q, err := p.Run(t)
		require.NoError(t, err)
		require.NotEmpty(t, q.Shown().Events)
		require.Equal(t, answer(t, p), p.Choice(i18n.English, p.Answer), "%s: %s", p.Text(), p.Question(i18n.English))
		for _, l := range i18n.Languages {
			said := map[string]bool{}
			for i := range p.Choices {
				require.NotEmpty(t, p.Choice(l, i))
				said[p.Choice(l, i)] = true
			}
			require.Len(t, said, len(p.Choices), "the choices differ: %v", said)
			for _, text := range append([]string{p.Question(l)}, steps(l, p)...) {
				require.NotRegexp(t, `\{(client|call|rule|command|time)\}`, text)
				require.NotEmpty(t, text)
			}
		}
		require.NotContains(t, p.Question(i18n.Chinese), p.Setup.Property.About)
		require.GreaterOrEqual(t, len(p.Choices), 2)
		require.Len(t, p.Next, len(p.Steps)-p.Shown)
		asked[p.Kind]++
		said[p.Op+p.Choices[p.Answer]]++
		stages[p.Stage.ID] = true
	}
	if testing.Short() {
		return // a few do not have everything
	}
	require.Len(t, asked, int(kinds), "every kind of question is asked: %v", asked)
	require.Len(t, stages, 6)
	for _, what := range []string{"yes", "no", "TryLockheld", "TryLockrefused", "Unlockdone", "no key", "nobody"} {
		require.NotZero(t, said[what], "%s is never right: %v", what, said)
	}
}

func steps(l i18n.Language, p Prediction) []string {
	var all []string
	for _, s := range p.Next {
		all = append(all, s.Words(l))
	}
	return all
}

func TestAlteredAnswerIsCaught(t *testing.T) {
	for _, p := range some(t, 12) {
		require.NoError(t, isTrue(t, p))
		for wrong := range p.Choices {
			if wrong == p.Answer {
				continue
			}
			altered := p
			altered.Answer = wrong
			require.ErrorContains(t, isTrue(t, altered), "the marked answer is")
		}
		altered := p
		altered.Choices = slices.Delete(slices.Clone(p.Choices), p.Answer, p.Answer+1)
		require.ErrorContains(t, isTrue(t, altered), "none of the choices")
		altered = p
		altered.Steps = append(slices.Clone(p.Steps[:len(p.Steps)-1]), "c")
		require.ErrorContains(t, isTrue(t, altered), "is not possible any more")
	}
}

// The schedules that break something and those that do not are both there, so that
// nobody can guess.
func TestBothBrokenAndSafeSchedulesAreShown(t *testing.T) {
	if testing.Short() {
		t.Skip("a few say nothing about how often")
	}
	broken, all := 0, some(t, 40)
	for _, p := range all {
		var astray error
		played, err := schedule.Play(t, p.Setup, schedule.Follow(p.Steps, &astray))
		require.NoError(t, err)
		if len(oracle.Judge(played.Trace)) > 0 {
			broken++
		}
	}
	require.Greater(t, broken, len(all)/5)
	require.Less(t, broken, len(all)*4/5)
}

func TestSameSeedSamePrediction(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(3) {
		for n := 1; n < 4; n++ {
			p, err := (&Finder{T: t, Seed: seed}).Find(n)
			require.NoError(t, err)
			again, err := (&Finder{T: t, Seed: seed}).Find(n)
			require.NoError(t, err)
			require.Equal(t, p.Text(), again.Text())
			require.Equal(t, p.Question(i18n.English), again.Question(i18n.English))
			found[p.Text()] = true
		}
	}
	require.GreaterOrEqual(t, len(found), 8)
}

func TestKnownScheduleIsNotShown(t *testing.T) {
	p, err := (&Finder{T: t, Seed: 2}).Find(1)
	require.NoError(t, err)
	longer := p
	longer.Steps = append(slices.Clone(p.Steps), "t")
	shorter := p
	shorter.Steps = p.Steps[:len(p.Steps)-1]
	for _, known := range []Prediction{p, longer, shorter} {
		other, err := (&Finder{T: t, Seed: 2, Known: []string{"no schedule", known.Text()}}).Find(1)
		require.NoError(t, err)
		require.NotEqual(t, p.Text(), other.Text())
	}
}

// What comes after the picture must not tell what the answer is: every command in it
// has left its client in the picture.
func TestStepsToComeAreUnderWayInThePicture(t *testing.T) {
	for _, p := range some(t, 40) {
		q, err := p.Run(t)
		require.NoError(t, err)
		for _, s := range p.Next {
			if s.Action != world.Execute {
				continue
			}
			sent := 0
			for _, e := range q.Shown().Events {
				switch {
				case e.Client != s.Client:
				case e.Kind == world.Sent, e.Kind == world.Called && (e.Op == world.OpCheck || e.Op == world.OpInsert):
					sent++
				case e.Kind == world.Executed, e.Kind == world.Stored:
					sent--
				}
			}
			require.Positive(t, sent, "%s: %s", p.Text(), s.What)
		}
	}
}

// A command that deletes leaves nothing, and a look breaks nothing, whatever came before.
func TestAnswerIsNotGivenAwayByTheLastStep(t *testing.T) {
	for _, p := range some(t, 40) {
		last := p.Next[len(p.Next)-1]
		switch p.Kind {
		case AskKey:
			require.NotRegexp(t, `^(DEL|GET) `, last.What, p.Text())
		case AskBroken:
			require.False(t, last.Ledger && strings.HasPrefix(last.What, "check "), p.Text())
		}
	}
}

// What is asked about has to be decided after the picture, once, and by what is told of.
func TestQuestionHasOneAnswer(t *testing.T) {
	for _, p := range some(t, 40) {
		q, err := p.Run(t)
		require.NoError(t, err)
		var astray error
		played, err := schedule.Play(t, p.Setup, schedule.Follow(p.Steps, &astray))
		require.NoError(t, err)
		require.LessOrEqual(t, played.Costs[len(played.Costs)-1], dearest)
		returned := 0
		for _, e := range q.Trace.Events[q.Cut:] {
			switch {
			case p.Kind == AskCall && e.Kind == world.Returned && e.Client == p.Client:
				returned++
			case p.Kind == AskInside && e.Kind == world.Called:
				require.NotEqual(t, world.OpUnlock, e.Op, "%s: nobody can see when a client calls Unlock", p.Text())
			}
		}
		switch p.Kind {
		case AskCall:
			require.Equal(t, 1, returned, "%s: which call of %s?", p.Text(), p.Client)
		case AskBroken:
			require.Empty(t, oracle.Ask(q.Shown(), p.Setup.Property.Breaks...), "%s: the picture shows it broken", p.Text())
		}
	}
}

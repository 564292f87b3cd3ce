package interview

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
)

const (
	earliest = 3 // the fewest steps that are drawn
	most     = 4 // the most steps between the picture and the question
)

// question asks about the end of a prediction's trace. last are the events of its last step. The
// truth is one of the choices. If the moment does not suit the question there are no choices.
type question func(p Prediction, last []trace.Event) (text i18n.Message, truth string, choices []string)

// ask makes a question about a call, the key or the holders, at a random moment of the run after
// a delay or a fault. It returns false if the run has no such moment.
func ask(random *rand.Rand, run game.Run, p Prediction) (Prediction, bool) {
	about := []question{askCall, askKey, askInside}[random.IntN(3)]
	for end := len(run.Schedule) - random.IntN(most); end > earliest && slices.Max(run.Costs[:end]) > 0; end-- {
		cut := end
		for cut > max(earliest, end-most) && isForeseen(run, cut-1, end) {
			cut--
		}
		last := run.Trace.Events[run.Events(end-1):run.Events(end)]
		if cut == end || len(last) == 0 {
			continue
		}
		p.Steps, p.Trace, p.Shown = run.Schedule[:end], run.Trace.UpTo(run.Events(end)), run.Events(cut)
		text, truth, choices := about(p, last)
		if p.Question, p.Answer = text, slices.Index(choices, truth); p.Answer < 0 {
			continue
		}
		p.Why, p.Entry = explain(p, truth)
		for _, choice := range choices {
			p.Choices = append(p.Choices, cmp.Or(meanings[choice], i18n.Text(choice)).Args())
		}
		for i := cut; i < end; i++ {
			p.Next = append(p.Next, step(run, i, p.drawn().LockKey()))
		}
		return p, true
	}
	return p, false
}

// isForeseen reports whether every command from cut to end is already on its way at cut. A command
// that is sent later would give away what came before it.
func isForeseen(run game.Run, cut, end int) bool {
	for i := cut; i < end; i++ {
		o := run.Chosen(i)
		isSame := func(at schedule.Option) bool { return at.Token == o.Token && at.What == o.What }
		if o.Action == world.Execute && !slices.ContainsFunc(run.Options(cut), isSame) {
			return false
		}
	}
	return true
}

var (
	whatReturned = i18n.New("What does {client}'s {call} return?")
	whoseKey     = i18n.New("Whose key does Redis hold then?")
	whoIsInside  = i18n.New("Which clients then believe that they hold the lock?")

	meanings = map[string]i18n.Text{ // of the choices that are not a client's name
		"held":                  i18n.New("it has the lock"),
		"refused":               i18n.New("no: another client has the lock"),
		"error":                 i18n.New("an error"),
		"done":                  i18n.New("that it has unlocked"),
		"refused with an error": i18n.New("an error: the lock is not, or no longer, its own"),
		"nobody":                i18n.New("nobody"),
		"A and B":               i18n.New("A and B"),
	}
	theReply = i18n.New("the reply")
)

// askCall asks what a call of the lock returns, if no other call returns after the picture.
func askCall(p Prediction, last []trace.Event) (text i18n.Message, truth string, choices []string) {
	var returned []trace.Event
	for _, e := range p.Trace.Events[p.Shown:] {
		if e.Kind == trace.Returned {
			returned = append(returned, e)
		}
	}
	if len(returned) != 1 || returned[0].Step < last[0].Step {
		return text, "", nil
	}
	e := returned[0]
	truth, choices = game.ResultWord(*e.Result), []string{"held", "refused", "error"}
	switch {
	case e.Op == trace.OpUnlock:
		choices = []string{"done", "refused with an error", "error"}
	case truth == "refused with an error": // an acquire treats every error alike
		truth = "error"
	}
	return whatReturned.Args("client", e.Client, "call", e.Op), truth, choices
}

// askKey asks whose key Redis holds. After a GET or a DEL the answer would be plain, so it does not ask.
func askKey(p Prediction, last []trace.Event) (text i18n.Message, truth string, choices []string) {
	if !slices.ContainsFunc(last, func(e trace.Event) bool {
		return e.Kind == trace.Expired || e.Kind == trace.Executed && e.Command[0] != "GET" && e.Command[0] != "DEL"
	}) {
		return text, "", nil
	}
	truth = "nobody"
	if owner := game.KeyOwner(p.Trace); owner != "no key" {
		truth = owner[:1]
	}
	return whoseKey.Args(), truth, []string{"nobody", "A", "B"}
}

// askInside asks which clients believe that they hold the lock. The steps to come do not say when a
// client calls Unlock, so there must be no Unlock.
func askInside(p Prediction, last []trace.Event) (text i18n.Message, truth string, choices []string) {
	truth = game.Names(p.Trace.End().Insiders())
	unlocks := func(e trace.Event) bool { return e.Kind == trace.Called && e.Op == trace.OpUnlock }
	isAsked := func(e trace.Event) bool { return e.Kind == trace.Returned && trace.IsAcquire(e.Op) }
	isChanged := truth != game.Names(p.drawn().End().Insiders())
	if slices.ContainsFunc(p.Trace.Events[p.Shown:], unlocks) || !isChanged && !slices.ContainsFunc(last, isAsked) {
		return text, "", nil
	}
	return whoIsInside.Args(), truth, []string{"nobody", "A", "B", "A and B"}
}

// step returns the step at i without its result. The key is K, as in the picture.
func step(run game.Run, i int, key string) i18n.Message {
	o := run.Chosen(i)
	if key != "" {
		o.What = strings.ReplaceAll(o.What, key, "K")
	}
	var what any = o.What
	if o.Action == world.Deliver || o.Action == world.Lose {
		what = theReply
	}
	return game.Action(o, what, run.Now(i+1))
}

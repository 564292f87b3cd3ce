package interview

import (
	"math/rand/v2"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/quiz"
)

// most is how many steps come between the picture and the question's moment; there
// are enough before them for a picture.
const (
	most     = 4
	earliest = 2
)

// ask makes a question of a run: of a kind, and about a moment near the end. There are
// no steps in what it returns if there is no such moment.
func ask(random *rand.Rand, run quiz.Run, p Prediction) Prediction {
	for _, kind := range random.Perm(int(kinds)) {
		p.Kind = Kind(kind)
		var all []Prediction
		for end := earliest + 1; end <= len(run.Schedule); end++ {
			if q, ok := p.about(run, end); ok {
				all = append(all, q)
			}
		}
		if n := len(all); n > 0 {
			return all[n-1-random.IntN(min(n, 3))]
		}
	}
	return Prediction{}
}

// about asks about the moment after so many steps.
func (p Prediction) about(run quiz.Run, end int) (Prediction, bool) {
	p.Shown = cut(run, end)
	if p.Shown == end || !isEventful(run, p.Shown, end) {
		return p, false
	}
	p.Steps = slices.Clone(run.Schedule[:end])
	trace, shown := quiz.UpTo(run.Trace, run.Events(end)), run.Events(p.Shown)
	if !p.isAbout(trace, shown, trace.Events[run.Events(end-1):]) {
		return p, false
	}
	truth := p.truth()(trace, shown)
	p.Choices = p.choicesOf(truth)
	p.Answer = slices.Index(p.Choices, truth)
	for i := p.Shown; i < end; i++ {
		p.Next = append(p.Next, step(run, i, quiz.UpTo(trace, shown).LockKey()))
	}
	return p, p.Answer >= 0
}

// cut is where the picture ends if the question is about that end: as early as it can,
// so that everything that comes after it is under way already in the picture. A
// command that is not yet sent would give away what came before it.
func cut(run quiz.Run, end int) int {
	at := end
	for at > max(earliest, end-most) && isForeseen(run, at-1, end) {
		at--
	}
	return at
}

// isForeseen tells whether all steps from cut to end are such as can be seen at cut.
func isForeseen(run quiz.Run, cut, end int) bool {
	for i := cut; i < end; i++ {
		o := run.Chosen(i)
		isSame := func(at schedule.Option) bool { return at.Token == o.Token && at.What == o.What }
		if o.Action == world.Execute && !slices.ContainsFunc(run.Options(cut), isSame) {
			return false
		}
	}
	return true
}

// isEventful tells whether the picture has something in it, and whether the day was
// not a calm one up to the end: something came late or failed, and either both clients
// have reached Redis, or one of them was hit after it had.
func isEventful(run quiz.Run, cut, end int) bool {
	unusual := false
	for i, cost := range run.Costs[:end] {
		action := run.Chosen(i).Action
		unusual = unusual || cost > 0 && action != world.Execute && action != world.Deliver
	}
	reached, hit := map[string]bool{}, false
	for i, e := range run.Trace.Events[:run.Events(end)] {
		switch e.Kind {
		case world.Executed:
			reached[e.Client] = true
		case world.Crashed, world.Frozen, world.Dropped, world.Refused, world.Cancelled:
			hit = hit || reached[e.Client]
		}
		if i == run.Events(cut)-1 && len(reached) == 0 {
			return false
		}
	}
	return unusual && (hit || len(reached) > 1)
}

// isAbout tells whether the last step decides a question of this kind, and sets whose
// call it is about.
func (p *Prediction) isAbout(trace *world.Trace, cut int, last []world.Event) bool {
	before, then := quiz.UpTo(trace, cut), trace.Events[cut:]
	ends := func(e world.Event) bool { return e.Kind == world.Returned && isOfLock(e.Op) }
	switch p.Kind {
	case AskCall:
		i := slices.IndexFunc(last, ends)
		if i < 0 {
			return false
		}
		p.Client, p.Op = last[i].Client, last[i].Op
		return !slices.ContainsFunc(then, func(e world.Event) bool { // the only one that comes
			return e.Kind == world.Returned && e.Client == p.Client && e.Step < last[i].Step
		})
	case AskKey:
		return slices.ContainsFunc(last, decidesKey) && quiz.Key(trace, cut) != ""
	case AskInside:
		if slices.ContainsFunc(then, func(e world.Event) bool { return e.Kind == world.Called && e.Op == world.OpUnlock }) {
			return false // nobody can see in the picture when a client calls Unlock
		}
		return quiz.Insiders(trace, cut) != quiz.Insiders(before, cut) ||
			slices.ContainsFunc(last, func(e world.Event) bool { return ends(e) && e.Op != world.OpUnlock })
	}
	return len(oracle.Ask(before, p.Setup.Property.Breaks...)) == 0 && slices.ContainsFunc(last, func(e world.Event) bool {
		return e.Kind == world.Stored && e.Op != world.OpCheck || e.Kind == world.Returned || e.Kind == world.Crashed || len(e.Effects) > 0
	})
}

func isOfLock(op string) bool {
	return op == world.OpTryLock || op == world.OpLock || op == world.OpUnlock
}

// decidesKey tells whether one has to think about what Redis holds after the event. After
// a GET and a DEL nobody has to: the same as before, or nothing.
func decidesKey(e world.Event) bool {
	return e.Kind == world.Expired || e.Kind == world.Executed && e.Op != world.OpCheck && e.Command[0] != "GET" && e.Command[0] != "DEL"
}

// step is the step at i without what comes of it. The key is K, as in the picture.
func step(run quiz.Run, i int, key string) Step {
	o := run.Chosen(i)
	s := Step{Action: o.Action, Client: o.Client, What: o.What, At: run.Now(i + 1)}
	if op, order, ok := o.Ledger(); ok {
		s.Ledger, s.What = true, strings.ToLower(op)+" order "+order
	}
	if key != "" {
		s.What = strings.ReplaceAll(s.What, key, "K")
	}
	return s
}

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

// found is a run under a schedule that was found.
type found struct{ quiz.Run }

// most is how many steps come between the picture and the question's moment; there
// are enough before them for a picture.
const (
	most     = 4
	earliest = 2
)

// ask makes a question of a run: of a kind, and about a moment near the end. There are
// no steps in what it returns if there is no such moment.
func (f found) ask(random *rand.Rand, p Prediction) Prediction {
	for _, kind := range random.Perm(int(kinds)) {
		p.Kind = Kind(kind)
		var all []Prediction
		for end := earliest + 1; end <= len(f.Schedule); end++ {
			if q, ok := f.about(p, end); ok {
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
func (f found) about(p Prediction, end int) (Prediction, bool) {
	p.Shown = f.cut(end)
	if p.Shown == end || !f.isEventful(p.Shown, end) {
		return p, false
	}
	p.Steps = slices.Clone(f.Schedule[:end])
	trace, cut := quiz.UpTo(f.Trace, f.Events(end)), f.Events(p.Shown)
	if !p.isAbout(trace, cut, trace.Events[f.Events(end-1):]) {
		return p, false
	}
	truth := p.truth()(trace, cut)
	p.Choices = p.choicesOf(truth)
	p.Answer = slices.Index(p.Choices, truth)
	for i := p.Shown; i < end; i++ {
		p.Next = append(p.Next, f.step(i, quiz.UpTo(trace, cut).LockKey()))
	}
	return p, p.Answer >= 0
}

// cut is where the picture ends if the question is about that end: as early as it can,
// so that everything that comes after it is under way already in the picture. A
// command that is not yet sent would give away what came before it.
func (f found) cut(end int) int {
	cut := end
	for cut > max(earliest, end-most) && f.isForeseen(cut-1, end) {
		cut--
	}
	return cut
}

// isForeseen tells whether all steps from cut to end are such as can be seen at cut.
func (f found) isForeseen(cut, end int) bool {
	for i := cut; i < end; i++ {
		o := f.Chosen(i)
		if o.Action == world.Execute && !slices.ContainsFunc(f.Options(cut), func(at schedule.Option) bool {
			return at.Token == o.Token && at.What == o.What
		}) {
			return false
		}
	}
	return true
}

// isEventful tells whether the picture has something in it, and whether the day was
// not a calm one up to the end: something came late or failed, and either both clients
// have reached Redis, or one of them was hit after it had.
func (f found) isEventful(cut, end int) bool {
	unusual := false
	for i, cost := range f.Costs[:end] {
		action := f.Chosen(i).Action
		unusual = unusual || cost > 0 && action != world.Execute && action != world.Deliver
	}
	if !unusual {
		return false
	}
	reached, hit := map[string]bool{}, false
	for i, e := range f.Trace.Events[:f.Events(end)] {
		switch e.Kind {
		case world.Executed:
			reached[e.Client] = true
		case world.Crashed, world.Frozen, world.Dropped, world.Refused, world.Cancelled:
			hit = hit || reached[e.Client]
		}
		if i == f.Events(cut)-1 && len(reached) == 0 {
			return false
		}
	}
	return hit || len(reached) > 1
}

// tellsItself are the commands after which nobody needs to think about what Redis
// holds: the same as before, or nothing.
var tellsItself = []string{"GET", "DEL"}

// isAbout tells whether the last step decides a question of this kind, and sets whose
// call it is about.
func (p *Prediction) isAbout(trace *world.Trace, cut int, last []world.Event) bool {
	before := quiz.UpTo(trace, cut)
	switch p.Kind {
	case AskCall:
		i := slices.IndexFunc(last, func(e world.Event) bool {
			return e.Kind == world.Returned && (e.Op == world.OpTryLock || e.Op == world.OpLock || e.Op == world.OpUnlock)
		})
		if i < 0 {
			return false
		}
		p.Client, p.Op = last[i].Client, last[i].Op
		return !slices.ContainsFunc(trace.Events[cut:], func(e world.Event) bool { // the only one that comes
			return e.Kind == world.Returned && e.Client == p.Client && e.Step < last[i].Step
		})
	case AskKey:
		return slices.ContainsFunc(last, func(e world.Event) bool {
			return e.Kind == world.Expired || e.Kind == world.Executed && e.Op != world.OpCheck && !slices.Contains(tellsItself, e.Command[0])
		}) && quiz.Key(trace, cut) != ""
	case AskInside:
		if slices.ContainsFunc(trace.Events[cut:], func(e world.Event) bool { return e.Kind == world.Called && e.Op == world.OpUnlock }) {
			return false // nobody can see in the picture when a client calls Unlock
		}
		return quiz.Insiders(trace, cut) != quiz.Insiders(before, cut) || slices.ContainsFunc(last, func(e world.Event) bool {
			return e.Kind == world.Returned && (e.Op == world.OpTryLock || e.Op == world.OpLock)
		})
	}
	isTelling := func(e world.Event) bool {
		return e.Kind == world.Stored && e.Op != world.OpCheck || e.Kind == world.Returned || e.Kind == world.Crashed || len(e.Effects) > 0
	}
	return len(oracle.Ask(before, p.Setup.Property.Breaks...)) == 0 && slices.ContainsFunc(last, isTelling)
}

// step is the step at i without what comes of it. The key is K, as in the picture.
func (f found) step(i int, key string) Step {
	o := f.Chosen(i)
	s := Step{Action: o.Action, Client: o.Client, What: o.What}
	for _, op := range []string{world.OpCheck, world.OpInsert} {
		if order, ok := strings.CutPrefix(o.What, strings.ToUpper(op)+" "); ok && o.Action == world.Execute {
			s.Ledger, s.What = true, strings.ToLower(op)+" order "+order
		}
	}
	if key != "" {
		s.What = strings.ReplaceAll(s.What, key, "K")
	}
	s.At = f.Now(i + 1)
	return s
}

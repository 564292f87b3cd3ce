package interview

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/kata"
)

// followed is a run with what could be chosen before each step.
type followed struct {
	schedule.Played
	options [][]schedule.Option
	times   []time.Duration // before each step
}

// follow runs a lock under a schedule.
func follow(t *testing.T, setup schedule.Setup, steps []string) (followed, error) {
	var f followed
	var astray, err error
	next := schedule.Follow(steps, &astray)
	f.Played, err = schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
		f.options = append(f.options, p.Choices)
		f.times = append(f.times, p.World.Now())
		return next(p)
	})
	if err == nil {
		err = astray
	}
	return f, err
}

// most is how many steps come between the picture and the question's moment; there
// are enough before them for a picture.
const (
	most     = 4
	earliest = 2
)

// ask makes a question of a run: of a kind, and about a moment near the end. There are
// no steps in what it returns if there is no such moment.
func (f followed) ask(random *rand.Rand, p Prediction) Prediction {
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
func (f followed) about(p Prediction, end int) (Prediction, bool) {
	p.Shown = f.cut(end)
	if p.Shown == end || !f.isEventful(p.Shown, end) {
		return p, false
	}
	p.Steps = slices.Clone(f.Schedule[:end])
	trace, cut := upTo(f.Trace, f.Ends[end-1]), f.Ends[p.Shown-1]
	last := trace.Events[f.Ends[end-2]:]
	if !p.isAbout(trace, cut, last) {
		return p, false
	}
	truth := p.truth(trace, cut)
	p.Choices = p.choicesOf(truth)
	p.Answer = slices.Index(p.Choices, truth)
	for i := p.Shown; i < end; i++ {
		p.Next = append(p.Next, f.step(i, upTo(f.Trace, cut).LockKey()))
	}
	return p, p.Answer >= 0
}

// cut is where the picture ends if the question is about that end: as early as it can,
// so that everything that comes after it is under way already in the picture. A
// command that is not yet sent would give away what came before it.
func (f followed) cut(end int) int {
	cut := end
	for cut > max(earliest, end-most) && f.isForeseen(cut-1, end) {
		cut--
	}
	return cut
}

// isForeseen tells whether all steps from cut to end are such as can be seen at cut.
func (f followed) isForeseen(cut, end int) bool {
	for i := cut; i < end; i++ {
		o := f.chosen(i)
		if o.Action == world.Execute && !slices.ContainsFunc(f.options[cut], func(at schedule.Option) bool {
			return at.Token == o.Token && at.What == o.What
		}) {
			return false
		}
	}
	return true
}

func (f followed) chosen(i int) schedule.Option {
	at := slices.IndexFunc(f.options[i], func(o schedule.Option) bool { return o.Token == f.Schedule[i] })
	return f.options[i][at]
}

// isEventful tells whether the picture has something in it, and whether the day was
// not a calm one up to the end: something came late or failed, and either both clients
// have reached Redis, or one of them was hit after it had.
func (f followed) isEventful(cut, end int) bool {
	unusual := false
	for i, cost := range f.Costs[:end] {
		action := f.chosen(i).Action
		unusual = unusual || cost > 0 && action != world.Execute && action != world.Deliver
	}
	if !unusual {
		return false
	}
	reached, hit := map[string]bool{}, false
	for i, e := range f.Trace.Events[:f.Ends[end-1]] {
		switch e.Kind {
		case world.Executed:
			reached[e.Client] = true
		case world.Crashed, world.Frozen, world.Dropped, world.Refused, world.Cancelled:
			hit = hit || reached[e.Client]
		}
		if i == f.Ends[cut-1]-1 && len(reached) == 0 {
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
	before := upTo(trace, cut)
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
		}) && keyOf(trace) != ""
	case AskInside:
		if slices.ContainsFunc(trace.Events[cut:], func(e world.Event) bool { return e.Kind == world.Called && e.Op == world.OpUnlock }) {
			return false // nobody can see in the picture when a client calls Unlock
		}
		return kata.Insiders(trace, cut) != kata.Insiders(before, cut) || slices.ContainsFunc(last, func(e world.Event) bool {
			return e.Kind == world.Returned && (e.Op == world.OpTryLock || e.Op == world.OpLock)
		})
	}
	isTelling := func(e world.Event) bool {
		return e.Kind == world.Stored && e.Op != world.OpCheck || e.Kind == world.Returned || e.Kind == world.Crashed || len(e.Effects) > 0
	}
	return len(oracle.Ask(before, p.Setup.Property.Breaks...)) == 0 && slices.ContainsFunc(last, isTelling)
}

// step is the step at i without what comes of it. The key is K, as in the picture.
func (f followed) step(i int, key string) Step {
	o := f.chosen(i)
	s := Step{Action: o.Action, Client: o.Client, What: o.What}
	for _, op := range []string{world.OpCheck, world.OpInsert} {
		if order, ok := strings.CutPrefix(o.What, strings.ToUpper(op)+" "); ok && o.Action == world.Execute {
			s.Ledger, s.What = true, strings.ToLower(op)+" order "+order
		}
	}
	if key != "" {
		s.What = strings.ReplaceAll(s.What, key, "K")
	}
	if events := f.Trace.Events; o.Action == world.Tick {
		s.At = events[min(f.Ends[i], len(events))-1].At
	}
	if i+1 < len(f.times) {
		s.At = f.times[i+1]
	}
	return s
}

package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Inevitable is the moment of a run from which on a rule is broken even if nothing goes
// wrong any more. From there on nobody stands still, no message is lost, and each message
// arrives before anybody's work is done; only the order of the steps is open. Each client
// ends its work, unlocks, and asks once more.
type Inevitable struct {
	Rule      oracle.Monitor `json:"rule"`
	Events    int            `json:"events"` // how many had happened by then
	Last      bool           `json:"last"`   // it is the very step that breaks the rule
	Bound     int            `json:"bound"`  // up to which cost every continuation was looked at
	Schedules int            `json:"schedules"`
	Kept      bool           `json:"kept"`          // some continuation from just before keeps the rule
	Way       string         `json:"way,omitempty"` // its schedule; "" where no property is about the rule
}

// How far the continuations of one moment are looked at.
const (
	dearest  = 2    // the highest cost
	mostRuns = 400  // schedules
	longRun  = 600  // choices of one of them: what goes on beyond is a lock that never rests
	mostWork = 6000 // choices of all of them
)

// FindInevitable looks for that moment in the run of a failure that breaks a rule.
func FindInevitable(t *testing.T, v failures.Verdict, subject failures.Subject) (Inevitable, error) {
	found, _ := v.Against()
	return inevitable(t, found, found.Step, func(i int) (Setup, []string) {
		return Setup{Subject: subject, Attempts: 1, Env: Envs[0], From: &Start{v.Failure, i}}, nil
	})
}

// FindInevitableStep looks for that moment among the steps of a schedule, in whose run a
// rule is broken.
func FindInevitableStep(t *testing.T, s Setup, steps []string, found oracle.Finding) (Inevitable, error) {
	return inevitable(t, found, len(steps)+1, func(i int) (Setup, []string) { return s, steps[:i-1] })
}

// inevitable looks among moments 1 to n-1, of which at makes the i-th. It goes back from the
// end, in ever longer leaps, to one from which the rule can be kept, and then halves.
func inevitable(t *testing.T, found oracle.Finding, n int, at func(i int) (Setup, []string)) (Inevitable, error) {
	result := Inevitable{Rule: found.Monitor, Events: found.Step, Last: true}
	if found.Step > longest {
		return result, errLong
	}
	before, from := 0, n
	for leap := 1; before+1 < from; leap *= 2 {
		i := max(1, from-leap)
		if before > 0 {
			i = (before + from) / 2
		}
		setup, steps := at(i)
		l, err := look(t, setup, steps, found)
		switch {
		case err != nil:
			return result, err
		case l.open:
			before, result.Kept, result.Way = i, l.Kept, l.Way
			continue
		case l.Events < found.Step:
			result.Events, result.Last, result.Bound, result.Schedules = l.Events, false, l.Bound, l.Schedules
		}
		from = i
	}
	return result, nil
}

// looked is what was seen from a moment.
type looked struct {
	Inevitable
	open bool // some continuation keeps the rule, or nobody knows
	run  int  // choices in the present continuation
	work int  // choices in all of them
}

var (
	errKept    = errors.New("the rule is kept")
	errLate    = errors.New("the rule is broken already")
	errLong    = fmt.Errorf("schedule: the rule is broken after more than %d events: nobody looks since when it was too late", longest)
	errEndless = errors.New("the lock never rests")
)

// look looks at the continuations of a moment until one keeps the rule.
func look(t *testing.T, s Setup, steps []string, found oracle.Finding) (l looked, err error) {
	s.Property.Breaks, s.prompt, s.promptAfter = nil, true, len(steps) // what is broken is judged here
	broken := func(trace *world.Trace) bool { return len(oracle.Ask(trace, found.Monitor)) > 0 }
	r, err := SearchFrom(t, s, steps, Limits{
		Bound: dearest, Runs: mostRuns,
		Stop: func(Progress) bool { return l.work > mostWork },
		Cut: func(p Point) bool {
			l.run++
			return l.run > longRun || broken(p.World.Trace())
		},
		See: func(p Played) error {
			endless := l.run > longRun
			l.Events, l.work, l.run = p.after(len(steps)), l.work+l.run, 0
			switch {
			case endless:
				return errEndless
			case l.Events >= found.Step:
				return errLate
			case p.Finished && !broken(p.Trace):
				l.Kept, l.Way = true, s.replay(p.Schedule, found)
				return errKept
			}
			return nil
		},
	})
	l.Bound, l.Schedules = r.Bound, r.Runs
	if !r.Exhausted {
		l.Bound--
	}
	l.open = l.Kept || errors.Is(err, errEndless) || l.Bound < 0 && err == nil
	if l.open || errors.Is(err, errLate) {
		err = nil
	}
	return l, err
}

// after is how many events had happened after so many steps, before the clients began
// anything else.
func (p Played) after(steps int) int {
	if steps == 0 {
		return cmp.Or(p.Taken, p.Begun)
	}
	return p.Ends[steps-1]
}

// replay is a schedule's string under a property that is about the rule, "" if there is none.
func (s Setup) replay(steps []string, found oracle.Finding) string {
	i := slices.IndexFunc(Properties, func(p Property) bool { return !p.Wait && slices.Contains(p.Breaks, found.Monitor) })
	if s.Property.Name == "" && i >= 0 {
		s.Property = Properties[i]
	}
	if s.Property.Name == "" {
		return ""
	}
	return Text(s, steps)
}

// offer is what can be chosen: all, or, where nothing goes wrong any more, what is soonest.
func (r *run) offer(all []world.Choice) []world.Choice {
	if !r.setup.prompt || len(r.played.Schedule) < r.setup.promptAfter {
		return all
	}
	soonest := never
	for _, c := range all {
		soonest = min(soonest, soonOf(c))
	}
	return slices.DeleteFunc(all, func(c world.Choice) bool { return soonOf(c) == never || soonOf(c) > soonest })
}

// soon is how soon a step is taken where nothing goes wrong: messages arrive before work is
// done, and work is done before time passes for anything else.
type soon int

const (
	message soon = iota
	work
	later
	never
)

func soonOf(c world.Choice) soon {
	switch _, _, writes := (Option{Choice: c}).Ledger(); {
	case writes:
		return work
	case c.Action == world.Tick:
		return later
	case slices.Contains([]world.Action{world.Execute, world.Deliver, world.Thaw, world.Heal}, c.Action):
		return message
	}
	return never
}

package kata

import (
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/world"
)

// Prediction is a schedule that is shown up to a point, and the question what
// comes next. The world has the answer.
type Prediction struct {
	Failure  string // the schedule
	Until    Moment // the first event that is not shown
	Question string
	Choices  []Choice
	Answer   int   // the index of the right choice
	Asks     Truth // what the question is about
}

// Choice is an answer one can give.
type Choice struct {
	Text  string
	Means string // the same in the words of the truth
}

// Moment tells an event.
type Moment struct {
	Kind   world.Kind
	Client string
	Op     string // "" for any
	Nth    int    // which of them, from 1; 0 is the first
}

// find is the index of the event in the trace, -1 if it does not happen.
func (m Moment) find(trace *world.Trace) int {
	seen := 0
	for i, e := range trace.Events {
		if e.Kind == m.Kind && e.Client == m.Client && (m.Op == "" || e.Op == m.Op) {
			if seen++; seen >= m.Nth {
				return i
			}
		}
	}
	return -1
}

// Truth reads from a trace, and where the picture ended, what really happened.
type Truth func(trace *world.Trace, cut int) string

// Told is what the call is told that returns next to that client.
func Told(client string) Truth {
	return func(trace *world.Trace, cut int) string {
		for _, e := range trace.Events[cut:] {
			if e.Kind == world.Returned && e.Client == client {
				return resultWord(e)
			}
		}
		return "nothing"
	}
}

func resultWord(e world.Event) string {
	switch r := e.Result; {
	case r.Claim == world.ClaimPanic:
		return "panic"
	case r.Error != "" && r.Claim == world.ClaimRefused:
		return "refused with an error"
	case r.Error != "":
		return "timeout"
	case r.Held:
		return "held"
	case r.Claim == world.ClaimDone:
		return "done"
	}
	return "refused"
}

// Insiders are those who believe in the end that they hold the lock.
func Insiders(trace *world.Trace, _ int) string {
	inside := map[string]int{}
	for _, e := range trace.Events {
		switch {
		case e.Kind == world.Returned && e.Result.Held:
			inside[e.Client]++
		case e.Kind == world.Called && e.Op == world.OpUnlock && inside[e.Client] > 0:
			inside[e.Client]--
		case e.Kind == world.Lost, e.Kind == world.Crashed:
			inside[e.Client] = 0
		}
	}
	var names []string
	for _, lane := range trace.Lanes {
		if inside[lane] > 0 {
			names = append(names, lane)
		}
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

// Holder is whose key Redis holds after the next command of that client.
func Holder(client string) Truth {
	return func(trace *world.Trace, cut int) string {
		for _, e := range trace.Events[cut:] {
			if e.Kind == world.Executed && e.Client == client {
				if len(e.Keys) == 0 {
					return "no key"
				}
				return e.Keys[0].Owner.Label
			}
		}
		return "nothing"
	}
}

// Orders is who has written into the ledger in the end.
func Orders(trace *world.Trace, _ int) string {
	var names []string
	for _, e := range trace.Events {
		if e.Kind == world.Stored && len(e.Orders) >= len(names) {
			names = nil
			for _, o := range e.Orders {
				names = append(names, o.Client)
			}
		}
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

// shown is the part of the trace that one sees before the question.
func (p Prediction) shown(trace *world.Trace) (*world.Trace, int, bool) {
	cut := p.Until.find(trace)
	if cut < 0 {
		return nil, 0, false
	}
	part := *trace
	part.Events = slices.Clone(trace.Events[:cut])
	return &part, cut, true
}

// really is the index of the choice that is what really happens in this trace. The
// error says that the trace answers in none of the choices' words.
func (p Prediction) really(trace *world.Trace) (int, error) {
	cut := p.Until.find(trace)
	if cut < 0 {
		return -1, fmt.Errorf("%s has no moment %+v", p.Failure, p.Until)
	}
	truth := p.Asks(trace, cut)
	for i, c := range p.Choices {
		if c.Means == truth {
			return i, nil
		}
	}
	return -1, fmt.Errorf("%s ends with %q, which is none of the choices", p.Failure, truth)
}

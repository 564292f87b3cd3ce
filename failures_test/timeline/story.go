// Package timeline draws a trace: a lane for each client, one for Redis and one
// for the ledger, from top to bottom in the order in which things happened. [Text]
// is for a terminal, package svg for a page or a wall, [Rows] is data for a page to step
// through. All three tell the labels of a [Story].
package timeline

import (
	"fmt"
	"slices"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Story is a trace as labels, in the order in which things happened.
type Story struct {
	*world.Trace
	Key      string // the lock's key, shown as K
	language i18n.Language
	Labels   []*Label
	requests []*world.Request // event → the request that it is about
	Ledger   bool             // a client asked it
	apart    bool             // each event has a label of its own
}

// Label is what a picture says about some events that belong together: one event, a
// command with its reply if nothing came between, or a run of equal attempts.
type Label struct {
	First, last int         // indices of its events
	Event       world.Event // what it is about
	Request     *world.Request
	Lane        int // -1: no client's
	At, Until   time.Duration
	times       int  // how often the same was tried
	Leaves      bool // a command leaves that arrives later
	Answered    bool // the reply is part of it
	before      int  // how often its client held the lock before
	After       State
	Found       []oracle.Finding
}

// State is how things stand after a label: letters and words for each lane.
type State struct {
	Inside  string // - outside, i inside, x inside with another against the rule, e the same and excused
	Process string // - runs, s stands still, d dead, n has no network
	Waits   []bool // in Lock
	keys    []world.Key
	keysAt  time.Duration
	Orders  []world.Order
}

// NewStory turns a trace into labels.
func NewStory(trace *world.Trace, found []oracle.Finding, language i18n.Language) *Story {
	s := &Story{Trace: trace, Key: trace.LockKey(), language: language}
	s.tellAll(found)
	return s
}

// tellAll makes the labels.
func (s *Story) tellAll(found []oracle.Finding) {
	trace := s.Trace
	s.requests = make([]*world.Request, len(trace.Events))
	scenes, excused := trace.Scenes(), false
	for i, scene := range scenes {
		if scene.Request != nil {
			s.requests[i] = scene.Request.Final()
		}
	}
	before := map[string]int{}
	for i := 0; i < len(trace.Events); {
		labels, last := s.labelsAt(i)
		for ; i <= last; i++ {
			if scenes[i].Event.Acquires() { // against the rule, or excused: another one cannot know yet that it has lost the lock
				excused = !slices.ContainsFunc(found, func(f oracle.Finding) bool {
					return f.Step == scenes[i].Event.Step && f.Monitor == oracle.Exclusion
				})
			}
		}
		scene := scenes[last]
		after := s.moment(scene, excused)
		for _, l := range labels {
			l.After, l.before = after, before[l.Event.Client]
			if len(trace.Lanes) > 0 {
				l.Lane = slices.Index(trace.Lanes, l.Event.Client)
			}
		}
		for _, lane := range trace.Lanes {
			before[lane] = scene.Holds(lane)
		}
		s.Labels = append(s.Labels, labels...)
		s.Ledger = s.Ledger || len(scene.Orders) > 0
		found = s.tell(found, trace.Events[last].Step)
	}
	s.tell(found, -1)
}

// tell gives the findings up to a step to the last label, if that tells of the step; -1: all
// that are left. A command that is told together with its execution has no label of its own.
func (s *Story) tell(found []oracle.Finding, step int) []oracle.Finding {
	if len(s.Labels) == 0 {
		return found
	}
	l := s.Labels[len(s.Labels)-1]
	for len(found) > 0 && (step < 0 || found[0].Step <= min(step, s.Events[l.last].Step)) {
		l.Found, found = append(l.Found, found[0]), found[1:]
	}
	return found
}

// labelsAt are the labels that begin with an event, none if it is told with another one,
// and the last event that they tell of.
func (s *Story) labelsAt(i int) (labels []*Label, last int) {
	if end := repetition(s.Events, s.requests, i); end > i && !s.apart {
		return s.repeat(i, end), end
	}
	e, r := s.Events[i], s.requests[i]
	l := &Label{First: i, last: i, Event: e, Request: r, At: e.At, Until: e.At, times: 1}
	switch {
	case r != nil && r.Sent == i:
		if !s.isLate(r) {
			return nil, i
		}
		l.Leaves = true
	case r != nil && r.Struck == i && !s.apart:
		l.Answered = r.Delivered == i || r.Delivered == i+1
		if r.Delivered == i+1 {
			l.last = i + 1
		}
	}
	return []*Label{l}, l.last
}

// isLate reports whether a request leaves before, and not just as, it arrives. One that
// waited because its process stood still had not left.
func (s *Story) isLate(r *world.Request) bool {
	if r.Held || r.Struck == r.Sent+1 {
		return false
	}
	if r.Struck < 0 || r.Ledger || s.Events[r.Sent].At != s.Events[r.Struck].At {
		return true
	}
	return slices.ContainsFunc(s.Events[r.Sent:r.Struck], func(e world.Event) bool {
		return e.Kind != world.Sent && e.Kind != world.Executed && e.Kind != world.Delivered && e.Kind != world.Returned
	})
}

// repeat makes one label of each command of a repetition.
func (s *Story) repeat(first, end int) (labels []*Label) {
	of := map[string]*Label{}
	for i := first; i <= end; i++ {
		e, r := s.Events[i], s.requests[i]
		if e.Kind != world.Executed && e.Kind != world.Refused {
			continue
		}
		l := of[attempt(e)]
		if l == nil {
			l = &Label{First: first, last: end, Event: e, Request: r, At: e.At, Answered: true}
			of[attempt(e)] = l
			labels = append(labels, l)
		}
		l.Until = e.At
		l.times++
		l.Event.Keys, l.Event.Effects = e.Keys, append(l.Event.Effects, e.Effects...)
	}
	return labels
}

// attempt is what two attempts have in common that are told together.
func attempt(e world.Event) string { return fmt.Sprint(e.Client, " ", verb(e), " ", e.Call) }

// repetition is the last event of a run of commands and replies that are repeated
// with nothing else in between, beginning at first; first itself if there is none.
// A run has at least three equal ones.
func repetition(events []world.Event, requests []*world.Request, first int) int {
	end, times := first, map[string]int{}
	replies := map[string]string{}
	most, triples := 0, 0
	for i := first; i < len(events); {
		if events[i].Kind == world.Slept && i > first {
			i++
			continue
		}
		r := requests[i]
		if r == nil || r.Sent != i || r.Struck != i+1 || r.Delivered != i+2 || events[i].Kind != world.Sent {
			break
		}
		executed := events[i+1]
		id := attempt(executed)
		if reply, seen := replies[id]; seen && reply != executed.Reply || hasNewOwner(executed) {
			break
		}
		replies[id] = executed.Reply
		times[id]++
		most = max(most, times[id])
		triples++
		i += 3
		end = i - 1
	}
	if most < 3 || len(times) > triples/2 {
		return first
	}
	return end
}

// hasNewOwner reports whether a step changed more than a lease.
func hasNewOwner(e world.Event) bool {
	return slices.ContainsFunc(e.Effects, func(x world.Effect) bool { return x.Kind != world.Leased })
}

func (s *Story) moment(scene *world.Scene, excused bool) State {
	m := State{keys: scene.Keys, keysAt: scene.KeysAt, Orders: scene.Orders}
	together := len(scene.Insiders()) > 1
	for _, lane := range s.Lanes {
		inside, state := "-", "-"
		switch {
		case scene.Holds(lane) == 0:
		case !together:
			inside = "i"
		case excused:
			inside = "e"
		default:
			inside = "x"
		}
		switch c := scene.Condition(scene.Process(lane)); {
		case c.Dead:
			state = "d"
		case c.Frozen:
			state = "s"
		case c.Cut:
			state = "n"
		}
		m.Inside, m.Process = m.Inside+inside, m.Process+state
		call, _ := scene.Call(lane)
		m.Waits = append(m.Waits, call.Op == world.OpLock)
	}
	return m
}

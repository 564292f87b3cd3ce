// Package timeline draws a trace: a lane for each client, one for Redis and one
// for the ledger, from top to bottom in the order in which things happened. [Text]
// is for a terminal, package svg for a page or a wall, [Story.Rows] is data for a page to step
// through. All three show the labels of a [Story], in the words of one table of phrases.
package timeline

import (
	"cmp"
	"slices"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Story is a trace as labels, in the order in which things happened.
type Story struct {
	*trace.Trace
	Bars             []string // the servers whose keys are shown, if there are several
	Key              string   // the lock's key, shown as K
	Other            string   // the key of the other lock, shown as L, where clients take two
	language         i18n.Language
	Labels           []*Label
	requests         []*trace.Request  // event → its request
	stuck            map[int]bool      // requests that a fault delays
	same             map[string]string // B1 → "A1=B1": both have written the same value
	Ledger           bool              // a client used it
	oneLabelPerEvent bool              // no two events share a label
}

// Label is a row or box of a picture for events that belong together: one event, a
// command with its reply if nothing came between, or a run of equal attempts.
type Label struct {
	First, Last int         // indices of its events; First is -1 for time or a deadline that passes
	Events      []int       // indices of the events that its words are about: several for equal attempts or servers
	Event       trace.Event // the event shown
	Request     *trace.Request
	Lane        int      // -1: no client's
	Servers     []string // the servers of its events, if there are several
	At, Until   time.Duration
	Leaves      bool // a command leaves that arrives later
	Answered    bool // it includes the reply
	before      int  // number of holds of its client before
	After       State
	Found       []oracle.Finding
}

// times returns how many equal attempts a label shows.
func (l *Label) times() int { return len(l.Events) / max(len(l.Servers), 1) }

// State is the state after a label.
type State struct {
	Clients []Client // in the order of their lanes
	Keys    []trace.Key
	Lock    []trace.Key   // those of Keys that are K or L, on each server
	KeysAt  time.Duration // the time for which the leases of Keys are right
	Orders  []trace.Order
}

// Client is the state of one client.
type Client struct {
	Inside  Inside
	Waits   bool // in Lock
	Process trace.Condition
}

// Inside is whether a client believes that it holds the lock, and whether another one does too.
type Inside int

// A client is Excused if another one is inside too, and one of them cannot know yet that it has lost
// the lock.
const (
	Outside Inside = iota
	Alone
	Together
	Excused
)

// Tone is the colour of a verdict.
type Tone string

// The tones.
const (
	Bad   Tone = "r"
	Limit Tone = "o" // also of a loss that is noticed
	Good  Tone = "g"
)

// The kinds of labels without an event of their own: the deadline of a call passes, and a command has published.
const (
	deadline  trace.Kind = "deadline"
	published trace.Kind = "published"
)

// NewStory turns a trace into labels.
func NewStory(tr *trace.Trace, found []oracle.Finding, language i18n.Language) *Story {
	found = slices.SortedStableFunc(slices.Values(found), func(a, b oracle.Finding) int { return cmp.Compare(a.Shown(), b.Shown()) })
	return makeLabels(&Story{Trace: tr, language: language}, found)
}

// labeler makes the labels of a story, event by event.
type labeler struct {
	*Story
	scene   *trace.Scene
	found   []oracle.Finding // not yet in a label
	excused bool             // two are inside, and one cannot know yet that it has lost the lock
	until   time.Duration    // the end of the last label
	wakes   time.Duration    // when the scenario goes on after a pause
	idle    bool             // no label since the scenario let time pass
	passed  map[int]bool     // calls whose deadline has a label
}

// makeLabels makes the labels.
func makeLabels(s *Story, found []oracle.Finding) *Story {
	s.Key, s.Other, s.Bars = s.LockKey(), s.OtherKey(), slices.Concat(s.Servers, s.Replicated)
	s.requests, s.stuck, s.same = make([]*trace.Request, len(s.Events)), map[int]bool{}, map[string]string{}
	for i, scene := range s.Scenes() {
		e := scene.Event
		if scene.Request != nil {
			s.requests[i] = scene.Request.Final()
		}
		if e.Kind == trace.Sent && scene.Condition(e.Process).Cut || e.Kind == trace.Delayed && e.Moment == trace.BeforeCommand {
			s.stuck[e.Request] = true
		}
	}
	t := &labeler{Story: s, scene: s.UpTo(0).End(), found: found, passed: map[int]bool{}}
	for i := 0; i < len(s.Events); {
		t.passDeadlines(s.Events[i].At)
		labels, last := s.labelsAt(i)
		if len(labels) > 0 {
			t.passTime(labels[0].At)
		}
		for ; i <= last; i++ {
			t.follow()
		}
		t.add(labels)
		t.addFindings(s.Events[last].Step)
		t.addMessage(labels)
	}
	t.passDeadlines(t.wakes)
	t.passTime(t.wakes)
	t.addFindings(-1)
	for _, l := range s.Labels {
		l.Found = oracle.Fold(l.Found)
	}
	return s
}

// follow moves on by an event.
func (t *labeler) follow() {
	t.scene = t.Scenes()[t.scene.Index+1]
	switch e := t.scene.Event; {
	case e.Kind == trace.Slept && !t.oneLabelPerEvent:
		t.until, t.wakes, t.idle = max(t.until, e.At), e.At+e.Bound, true
	case e.Acquires():
		t.excused = !slices.ContainsFunc(t.found, func(f oracle.Finding) bool {
			return f.Step == e.Step && f.Rule == oracle.Exclusion
		})
	case e.Kind == trace.Executed:
		for _, effect := range e.Effects {
			label, first := effect.Owner.Label, effect.Owner.Shares
			if effect.Kind == trace.Installed && first != "" && slices.Contains(e.Command, label) { // a random value
				t.same[label] = first + "=" + label
			}
		}
	}
	t.Ledger = t.Ledger || len(t.scene.Orders) > 0
}

// passTime adds a label for the time that passes until then, while the scenario pauses.
func (t *labeler) passTime(at time.Duration) {
	at = min(at, t.wakes)
	if gap := at - t.until; gap >= time.Second || gap > 0 && t.idle && at == t.wakes {
		t.add([]*Label{{First: -1, Last: t.scene.Index, Event: trace.Event{Kind: trace.Slept, Bound: gap}, At: t.until, Until: t.until}})
		t.until = at
	}
}

// passDeadlines adds a label for each deadline, up to that time, of a call that is under way.
func (t *labeler) passDeadlines(at time.Duration) {
	for _, c := range t.scene.Calls {
		if end := c.At + c.Bound; c.Bound > 0 && end <= at && !t.oneLabelPerEvent && !t.passed[c.Call] {
			t.passed[c.Call] = true
			t.passTime(end)
			e := trace.Event{Kind: deadline, At: end, Client: c.Client, Process: c.Process, Call: c.Call, Op: c.Op}
			t.add([]*Label{{First: -1, Last: t.scene.Index, Event: e, At: end, Until: end}})
		}
	}
}

// add adds labels, with the state after them.
func (t *labeler) add(labels []*Label) {
	after := t.moment()
	for _, l := range labels {
		l.Lane, l.After = slices.Index(t.Clients, l.Event.Client), after
		if l.First >= 0 {
			l.before = t.Scenes()[l.First].Before.Holds(l.Event.Client)
		}
		t.until, t.idle = max(t.until, l.Until), false
	}
	t.Labels = append(t.Labels, labels...)
}

// addFindings adds the findings up to a step to the last label, if the label includes the step; -1: all
// findings that are left. A command shares a label with its execution, so it may have none yet.
func (t *labeler) addFindings(step int) {
	if len(t.Labels) == 0 {
		return
	}
	l := t.Labels[len(t.Labels)-1]
	for len(t.found) > 0 && (step < 0 || t.found[0].Shown() <= min(step, t.Events[max(l.Last, 0)].Step)) {
		l.Found, t.found = append(l.Found, t.found[0]), t.found[1:]
	}
}

// labelsAt returns the labels that begin with an event, none if it is part of another label,
// and the last event that they include.
func (s *Story) labelsAt(i int) (labels []*Label, last int) {
	e, r := s.Events[i], s.requests[i]
	l := &Label{First: i, Last: i, Events: []int{i}, Event: e, Request: r, At: e.At, Until: e.At}
	if end := s.repetition(i); end > i {
		return s.repeat(i, end), end
	}
	s.spread(l)
	switch {
	case e.Kind == trace.Slept && !s.oneLabelPerEvent: // see passTime
		return nil, i
	case r != nil && r.Sent == i:
		if !s.isLate(r) {
			return nil, l.Last
		}
		l.Leaves = true
	case r != nil && r.Executed == i && !s.oneLabelPerEvent:
		l.Answered = r.Delivered == i || r.Delivered == i+1
		if r.Delivered == i+1 {
			l.Last = max(l.Last, i+1)
		}
	}
	return []*Label{l}, l.Last
}

// isLate reports whether a request leaves some time before it arrives. A request that
// waited because its process was paused had not left.
func (s *Story) isLate(r *trace.Request) bool {
	if r.Paused || r.Executed == r.Sent+1 || r.Executed >= 0 && s.Events[r.Executed].Line() != "" && s.Events[r.Executed].Command[0] == "WAIT" {
		return false
	}
	if r.Executed < 0 || r.Ledger || s.Events[r.Sent].At != s.Events[r.Executed].At {
		return true
	}
	return slices.ContainsFunc(s.Events[r.Sent:r.Executed], func(e trace.Event) bool {
		return e.Kind != trace.Sent && e.Kind != trace.Executed && e.Kind != trace.Delivered && e.Kind != trace.Returned && e.Kind != trace.Arrived
	})
}

// isOnItsWay reports whether time passes while a request is on its way, or it gets lost.
func (s *Story) isOnItsWay(r *trace.Request) bool {
	if r == nil || r.Sent < 0 || s.oneLabelPerEvent || !s.isLate(r) {
		return false
	}
	end := r.Executed
	if end < 0 {
		end = len(s.Events) - 1
	}
	return s.stuck[r.ID] || r.Lost == r.Sent+1 || s.Events[end].At > s.Events[r.Sent].At
}

// has reports whether a client is inside in that way.
func (s State) has(how Inside) bool {
	return slices.ContainsFunc(s.Clients, func(c Client) bool { return c.Inside == how })
}

// visible yields the labels that have words: the others are not drawn as text.
func (s *Story) visible(yield func(*Label) bool) {
	for _, l := range s.Labels {
		isEmpty := l.Leaves && !s.isOnItsWay(l.Request) || s.Text(l) == "" && s.Redis(l) == "" && len(l.Found) == 0
		if !isEmpty && !yield(l) {
			return
		}
	}
}

// moment returns the present state.
func (t *labeler) moment() State {
	m := State{KeysAt: t.scene.KeysAt, Orders: t.scene.Orders}
	keys := t.scene.Keys
	if len(t.Replicated) > 0 {
		keys = t.scene.Copies
	}
	for _, k := range keys {
		shown := t.shown(k)
		m.Keys = append(m.Keys, shown)
		if k.Name == t.Key || k.Name == t.Other {
			m.Lock = append(m.Lock, shown)
		}
	}
	inside := t.scene.Insiders()
	for _, client := range t.Clients {
		call, _ := t.scene.Call(client)
		now := Client{Process: t.scene.Condition(t.scene.Process(client)), Waits: call.Op == trace.OpLock}
		another := func(other string) bool { return other != client && t.SharesLock(other, client) }
		switch {
		case t.scene.Holds(client) == 0:
		case !slices.ContainsFunc(inside, another):
			now.Inside = Alone
		case t.excused:
			now.Inside = Excused
		default:
			now.Inside = Together
		}
		m.Clients = append(m.Clients, now)
	}
	return m
}

// shown returns a key as pictures show it: K for its name, and one name for a value that two holds wrote.
func (s *Story) shown(k trace.Key) trace.Key {
	k.Name, k.Entries = s.Shorten(k.Name), slices.Clone(k.Entries)
	if same, shared := s.same[k.Owner.Label]; shared {
		for i := range k.Entries {
			for _, text := range []*string{&k.Entries[i].Field, &k.Entries[i].Value} {
				if *text == k.Owner.Label {
					*text = same
				}
			}
		}
		k.Owner.Label = same
	}
	return k
}

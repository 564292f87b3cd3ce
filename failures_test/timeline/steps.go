package timeline

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// Run is a trace as steps, for a page that shows one after the other. What a step
// leaves out is as it was in the step before.
type Run struct {
	Lanes  []string `json:"lanes"`
	Key    string   `json:"key,omitempty"` // the lock's key, written K in texts
	Lease  float64  `json:"lease"`         // in milliseconds, as all times
	Ledger bool     `json:"ledger,omitempty"`
	Steps  []Step   `json:"steps"`
}

// Step is a row of the text, with how things stand after it.
type Step struct {
	At     string   `json:"at,omitempty"`
	Time   float64  `json:"ms,omitempty"`
	Lane   int      `json:"lane"` // -1: no client's
	Kind   string   `json:"kind"`
	Text   string   `json:"text"`             // as in the lane
	Says   string   `json:"says"`             // a sentence
	Full   string   `json:"full,omitempty"`   // the whole command, where the text is shorter
	Inside string   `json:"inside,omitempty"` // a letter for each lane: - outside, i inside, x against the rule with another, e excused with another
	State  string   `json:"state,omitempty"`  // a letter for each lane: - runs, s stands still, d dead, n has no network
	Does   []string `json:"does,omitempty"`   // the call that each lane is in, "" for none
	Lines  []string `json:"lines,omitempty"`  // the lines of the lock that each lane runs: "mutex.go:64 ~watchdog.go:84", ~ in the background
	Keys   *[]Held  `json:"keys,omitempty"`
	Orders []string `json:"orders,omitempty"`
	Redis  string   `json:"redis,omitempty"` // what is new there
	Ledger string   `json:"ledger,omitempty"`
	Found  []string `json:"found,omitempty"`
}

// Held is a key in Redis.
type Held struct {
	Name  string  `json:"name"`
	Value string  `json:"value"`
	Owner string  `json:"owner"` // A1
	Lane  int     `json:"lane"`  // of the owner; -1: nobody's
	Until float64 `json:"until"` // when its lease ends; -1: never
}

// NewRun turns a trace into steps: those of [Text], row by row.
func NewRun(trace *world.Trace, found []oracle.Finding, code Code, language texts.Language) Run {
	s := NewStory(trace, found, code, language)
	run := Run{Lanes: trace.Lanes, Key: s.Key, Lease: milliseconds(trace.Lease), Ledger: s.Ledger, Steps: []Step{}}
	var before Step
	for l := range s.told {
		step := s.step(l)
		run.Steps = append(run.Steps, step.without(before))
		before = step
	}
	return run
}

// Ends is, for each step of [NewRun], how many events have happened then.
func Ends(trace *world.Trace, found []oracle.Finding, code Code) (events []int) {
	s := NewStory(trace, found, code, texts.English)
	for l := range s.told {
		events = append(events, l.last+1)
	}
	return events
}

func (s *Story) step(l *Label) Step {
	step := Step{
		At: strings.Join(Clock(l.At, l.Until), " "), Time: milliseconds(l.Until), Lane: l.Lane, Kind: string(l.Event.Kind), Text: s.text(l),
		Redis: s.redis(l), Ledger: s.LedgerNews(l), Says: s.sentence(l), Inside: l.After.Inside, State: l.After.Process,
		Does: l.After.does, Lines: l.After.source, Orders: s.orders(l.After.Orders),
	}
	switch l.Event.Kind {
	case world.Stored:
		if s.reply(l.Event) != l.Event.Reply {
			step.Full = l.Event.Reply
		}
	case world.Executed, world.Refused:
		whole := s.Shorten(l.Event.Line())
		if !strings.Contains(step.Text, whole) {
			step.Full = whole
		}
	}
	keys := []Held{}
	for _, k := range l.After.keys {
		held := Held{Name: s.Shorten(k.Name), Value: s.Shorten(k.Value), Owner: k.Owner.Label, Lane: slices.Index(s.Lanes, k.Owner.Client), Until: -1}
		if k.TTL != world.NoTTL {
			held.Until = milliseconds(l.After.keysAt + k.TTL)
		}
		keys = append(keys, held)
	}
	step.Keys = &keys
	for _, f := range l.Found {
		step.Found = append(step.Found, strings.TrimPrefix(s.Shorten(f.Sentence(s.language)), "✗ "))
	}
	return step
}

// without leaves out what is as it was.
func (s Step) without(before Step) Step {
	if s.At == before.At {
		s.At = ""
	}
	if s.Time == before.Time {
		s.Time = 0
	}
	if s.Inside == before.Inside {
		s.Inside = ""
	}
	if s.State == before.State {
		s.State = ""
	}
	for _, list := range []struct{ now, was *[]string }{{&s.Does, &before.Does}, {&s.Lines, &before.Lines}, {&s.Orders, &before.Orders}} {
		if slices.Equal(*list.now, *list.was) {
			*list.now = nil
		}
	}
	if before.Keys != nil && slices.Equal(*s.Keys, *before.Keys) {
		s.Keys = nil
	}
	return s
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// Package quiz cuts the run of a lock at a moment and asks what comes next. The run
// itself has the answer.
package quiz

import (
	"fmt"
	"slices"

	"lockkata/failures_test/world"
)

// Quiz is a run that is shown up to a moment, and a question about what comes then.
type Quiz struct {
	Trace   *world.Trace
	Cut     int // how many of its events are shown
	Asks    Truth
	Choices []string // what can be answered, in the words of the truth
}

// Shown is what is seen before the question.
func (q Quiz) Shown() *world.Trace { return UpTo(q.Trace, q.Cut) }

// Right is the index of the choice that the run makes true. The error says that the run
// answers in none of the choices' words.
func (q Quiz) Right() (int, error) {
	truth := q.Asks(q.Trace, q.Cut)
	if i := slices.Index(q.Choices, truth); i >= 0 {
		return i, nil
	}
	return -1, fmt.Errorf("ends with %q, which is none of the choices %q", truth, q.Choices)
}

// Chosen is the index of the choice that was typed, by its number from 1; false if it is none.
func (q Quiz) Chosen(typed string) (int, bool) {
	if len(typed) != 1 {
		return 0, false
	}
	i := int(typed[0]) - '1'
	return i, i >= 0 && i < len(q.Choices)
}

// UpTo is a trace up to an event.
func UpTo(trace *world.Trace, events int) *world.Trace {
	return trace.UpTo(events)
}

// Moment tells an event.
type Moment struct {
	Kind   world.Kind
	Client string
	Op     string // "" for any
	Nth    int    // which of them, from 1; 0 is the first
}

// Find is the index of the event in the trace, -1 if it does not happen.
func (m Moment) Find(trace *world.Trace) int {
	seen := 0
	return slices.IndexFunc(trace.Events, func(e world.Event) bool {
		if e.Kind == m.Kind && e.Client == m.Client && (m.Op == "" || e.Op == m.Op) {
			seen++
			return seen >= m.Nth
		}
		return false
	})
}

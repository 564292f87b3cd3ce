package schedule

import (
	"strconv"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// Start is a moment of a failure's run, at which a schedule takes over from its script.
type Start struct {
	Failure failures.Failure
	Events  int // the number of events so far
}

// startAt separates the failure and the number of events in a schedule's string.
const startAt = "@"

// String returns a text such as check-then-delete@12.
func (s Start) String() string { return s.Failure.ID + startAt + strconv.Itoa(s.Events) }

// readStart parses the text of String.
func readStart(text string) (*Start, error) {
	id, count, _ := strings.Cut(text, startAt)
	f, found := failures.Find(id)
	if !found {
		return nil, noStart.Args("text", strconv.Quote(text), "name", strconv.Quote(id))
	}
	events, err := strconv.Atoi(count)
	if err != nil || events < 1 {
		return nil, badStart.Args("text", strconv.Quote(text), "sign", startAt)
	}
	return &Start{f, events}, nil
}

// takeOver returns actors for the clients of a failure's run: each finishes its call and then
// behaves like every [actor]. It adds clients if there are fewer than two.
func takeOver(w *world.World, setup Setup) (all []*actor) {
	for len(w.Actors()) < 2 {
		w.Client(string(rune('A' + len(w.Actors()))))
	}
	w.Patient(patience)
	end := w.Trace().End()
	for _, c := range w.Actors() {
		if !end.Condition(end.Process(c.Name)).Dead {
			a := &actor{Client: c, setup: setup, left: setup.Attempts, call: c.LastCall(), taken: true}
			owes := end.Holds(c.Name)
			if owes > 0 && a.isInside() { // its last call is about one of these holds
				owes--
			}
			a.owes = owes
			all = append(all, a)
		}
	}
	return all
}

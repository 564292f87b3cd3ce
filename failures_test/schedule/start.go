package schedule

import (
	"strconv"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Start is a moment of a failure's run, at which its script is left.
type Start struct {
	Failure failures.Failure
	Events  int // how many have happened
}

// startAt separates the failure from the number of events in a schedule's string.
const startAt = "@"

// String is check-then-delete@12.
func (s Start) String() string { return s.Failure.ID + startAt + strconv.Itoa(s.Events) }

// readStart reads what String says.
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

// takeOver gives the clients of a run that has begun to a schedule: each ends what it is at,
// and goes on as every [actor] does. There are two at least.
func takeOver(w *world.World, setup Setup) (all []*actor) {
	for len(w.Actors()) < 2 {
		w.Client(string(rune('A' + len(w.Actors()))))
	}
	w.Patient(patience)
	end := w.Trace().End()
	for _, c := range w.Actors() {
		if !end.Condition(end.Process(c.Name)).Dead {
			a := &actor{Client: c, setup: setup, left: setup.Attempts, call: c.LastCall(), taken: true}
			a.owes = max(0, end.Holds(c.Name)-a.accounted())
			all = append(all, a)
		}
	}
	return all
}

// accounted is how many of its holds its last call is about.
func (a *actor) accounted() int {
	switch c := a.call; {
	case c == nil:
		return 0
	case c.Held(), c.Op == world.OpCheck, c.Op == world.OpInsert: // a hold whose Unlock was called counts no more
		return 1
	}
	return 0
}

// Broken are the findings of these monitors in a run, without those from before the run was
// taken over.
func (p Played) Broken(by []oracle.Monitor) (found []oracle.Finding) {
	for _, f := range oracle.Ask(p.Trace, by...) {
		if !p.taken || f.Step > p.Begun {
			found = append(found, f)
		}
	}
	return found
}

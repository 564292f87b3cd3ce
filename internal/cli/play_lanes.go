package cli

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
)

// lane is what a client is doing.
type lane struct {
	world.Condition
	name     string
	isInside bool
	call     *world.Event // that is under way
	result   string       // of the last one
	flights  []flight
}

// flight is a command that was sent, and whose reply was not read yet.
type flight struct {
	world.Event        // with which it was sent
	reply       string // "" before it is executed
	isExecuted  bool
}

// lanesAt are the clients as a run leaves them.
func lanesAt(m position, scene *world.Scene) (lanes []*lane) {
	for _, name := range m.Trace.Lanes {
		l := &lane{name: name, Condition: scene.Condition(scene.Process(name)), isInside: scene.Holds(name) > 0}
		for _, e := range m.Trace.Events {
			switch {
			case e.Client != name:
			case e.Kind == world.Called:
				l.call = &e
			case e.Kind == world.Returned:
				l.call, l.result = nil, callResult(e)
			case e.Kind == world.Stored:
				l.call = nil
			}
		}
		l.flights = l.flightsOf(m, scene)
		lanes = append(lanes, l)
	}
	return lanes
}

// flightsOf are the commands that the client has not given up: something of each can be
// chosen, unless the client stands still.
func (l *lane) flightsOf(m position, scene *world.Scene) (all []flight) {
	options := slices.Clone(m.Next())
	for _, r := range slices.Backward(scene.UnderWay()) { // of equal ones the last, for it may be an attempt in place of another
		f := flight{Event: m.Trace.Events[r.Sent], isExecuted: r.Struck >= 0}
		if f.isExecuted {
			f.reply = m.Trace.Events[r.Struck].Reply
		}
		isOwn := f.Background || l.call != nil && l.call.Call == f.Call
		if f.Client != l.name || r.Ledger || l.Dead || !isOwn {
			continue
		}
		i := slices.IndexFunc(options, func(o schedule.Option) bool {
			if f.isExecuted {
				return o.Client == l.name && o.Action == world.Deliver
			}
			return o.Client == l.name && o.Action == world.Execute && strings.HasPrefix(o.What, f.Command[0])
		})
		if i >= 0 {
			options = slices.Delete(options, i, i+1)
		}
		if i >= 0 || l.Frozen {
			all = append(all, f)
		}
	}
	slices.Reverse(all)
	return all
}

// mark is what stands beside a client's name.
func (l *lane) mark(inside int) string {
	switch {
	case l.Dead:
		return "†"
	case l.Frozen:
		return "░"
	case l.isInside && inside > 1:
		return "║"
	case l.isInside:
		return "│"
	}
	return " "
}

// doing says in words what the client does, and which line of the lock does it.
func (l *lane) doing() (text string, at *world.Source) {
	switch {
	case l.Dead:
		return "is dead", nil
	case l.call == nil && l.result == "":
		return "has not begun", nil
	case l.call == nil:
		return "has finished: " + l.result, nil
	case l.call.Op == world.OpCheck:
		return "asks the ledger whether it has the order " + l.call.Text, nil
	case l.call.Op == world.OpInsert:
		return "writes the order " + l.call.Text + " into the ledger", nil
	}
	for _, f := range l.flights {
		if f.Call == l.call.Call {
			return l.call.Op + ": " + f.text(), f.Source
		}
	}
	return l.call.Op + " waits", nil
}

func (f flight) text() string {
	if f.isExecuted {
		return "has not read yet: " + f.reply
	}
	return "sends " + f.Line()
}

// sourceLine is a line of the lock's code, "" if nobody has it.
func (a *app) sourceLine(at *world.Source) string {
	if at == nil || at.File == "" {
		return ""
	}
	text, err := fs.ReadFile(a.sources, at.File)
	if lines := strings.Split(string(text), "\n"); err == nil && at.Line <= len(lines) {
		return strings.TrimSpace(lines[at.Line-1])
	}
	return ""
}

// place is mutex.go:57.
func place(at *world.Source) string {
	if at == nil || at.File == "" {
		return ""
	}
	return path.Base(at.String())
}

package cli

import (
	"bufio"
	"path"
	"slices"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
)

// lane is what a client is doing.
type lane struct {
	name    string
	call    *world.Event // the call that is under way
	result  string       // of the last one
	holds   int
	isStill bool
	isDead  bool
	flights []flight
}

// flight is a command that was sent and whose reply was not read yet.
type flight struct {
	world.Event        // of the kind Sent, or Executed
	line        string // of what was sent
}

// lanesAt are the clients as a trace leaves them.
func lanesAt(m position) []*lane {
	var lanes []*lane
	for _, name := range m.Trace.Lanes {
		lanes = append(lanes, &lane{name: name})
	}
	for _, e := range m.Trace.Events {
		for _, l := range lanes {
			if l.name == e.Client {
				l.follow(e)
			}
		}
	}
	for _, l := range lanes {
		l.prune(m.Next())
	}
	return lanes
}

func (l *lane) follow(e world.Event) {
	switch e.Kind {
	case world.Called:
		l.call = &e
		if e.Op == world.OpUnlock && l.holds > 0 {
			l.holds--
		}
	case world.Returned:
		l.call, l.result = nil, callResult(e)
		l.flights = slices.DeleteFunc(l.flights, func(f flight) bool { return f.Call == e.Call })
		if e.Result.Held {
			l.holds++
		}
	case world.Stored:
		l.call = nil
	case world.Lost:
		l.holds = 0
	case world.Frozen:
		l.isStill = true
	case world.Thawed:
		l.isStill = false
	case world.Crashed:
		l.isDead, l.holds, l.flights = true, 0, nil
	case world.Sent:
		l.flights = append(l.flights, flight{e, e.Line()})
	case world.Executed, world.Refused:
		if i := l.flightOf(e); i >= 0 {
			l.flights[i].Event = e
		}
	case world.Delivered, world.Dropped:
		if i := l.flightOf(e); i >= 0 {
			l.flights = slices.Delete(l.flights, i, i+1)
		}
	}
}

func (l *lane) flightOf(e world.Event) int {
	verb := func(words []string) string { return strings.Join(words[:min(2, len(words))], " ") }
	return slices.IndexFunc(l.flights, func(f flight) bool {
		return f.Call == e.Call && f.Source != nil && e.Source != nil && *f.Source == *e.Source && verb(f.Command) == verb(e.Command)
	})
}

// prune forgets what the client itself has given up: then nothing of it can be
// chosen, unless the client stands still.
func (l *lane) prune(options []schedule.Option) {
	if l.isStill {
		return
	}
	l.flights = slices.DeleteFunc(l.flights, func(f flight) bool {
		return !slices.ContainsFunc(options, func(o schedule.Option) bool {
			if f.Kind == world.Sent {
				return o.Client == l.name && o.Action == world.Execute && strings.HasPrefix(o.What, f.Command[0])
			}
			return o.Client == l.name && o.Action == world.Deliver
		})
	})
}

// mark is what stands beside a client's name.
func (l *lane) mark(inside int) string {
	switch {
	case l.isDead:
		return "†"
	case l.isStill:
		return "░"
	case l.holds > 0 && inside > 1:
		return "║"
	case l.holds > 0:
		return "│"
	}
	return " "
}

// doing says in words what the client does, and which line of the lock does it.
func (l *lane) doing() (text string, at *world.Source) {
	switch {
	case l.isDead:
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
	if f.Kind == world.Sent {
		return "sends " + f.line
	}
	return "has not read yet: " + f.Reply
}

// background are the commands that goroutines of the lock have sent by themselves.
func (l *lane) background() []flight {
	var all []flight
	for _, f := range l.flights {
		if f.Background {
			all = append(all, f)
		}
	}
	return all
}

// sourceLine is a line of the lock's code, "" if nobody has it.
func (a *app) sourceLine(at *world.Source) string {
	if at == nil || at.File == "" {
		return ""
	}
	file, err := a.sources.Open(at.File)
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if n == at.Line {
			return strings.TrimSpace(lines.Text())
		}
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

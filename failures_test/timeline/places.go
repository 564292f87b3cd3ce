package timeline

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/world"
)

// places follows which lines of the lock each lane runs.
type places struct {
	lanes []string
	code  Code
	ops   map[string]world.Event // lane → the call it is in
	line  map[string]string      // lane → the line of that call
	sent  map[string]string      // lane → the line in the background
	over  map[string]bool        // lanes whose line in the background ends with this step
	entry map[string]string      // call → the line where it begins
}

func newPlaces(lanes []string, code Code) *places {
	return &places{
		lanes: lanes, code: code, ops: map[string]world.Event{}, line: map[string]string{},
		sent: map[string]string{}, over: map[string]bool{}, entry: map[string]string{},
	}
}

// next forgets what ended with the step before.
func (p *places) next() {
	for lane := range p.over {
		delete(p.sent, lane)
	}
	clear(p.over)
}

func (p *places) follow(e world.Event) {
	switch e.Kind {
	case world.Called:
		p.ops[e.Client], p.line[e.Client] = e, p.begins(e.Op)
	case world.Returned, world.Stored:
		if p.ops[e.Client].Call == e.Call {
			delete(p.ops, e.Client)
			delete(p.line, e.Client)
		}
	case world.Crashed:
		for lane, call := range p.ops {
			if call.Process == e.Process {
				delete(p.ops, lane)
				delete(p.line, lane)
			}
		}
		delete(p.sent, e.Client)
	case world.Sent, world.Executed, world.Refused:
		line := p.known(e.Source)
		switch {
		case line == "":
		case e.Background:
			p.sent[e.Client] = line
			delete(p.over, e.Client)
		case p.ops[e.Client].Call == e.Call:
			p.line[e.Client] = line
		}
	case world.Delivered, world.Dropped:
		if e.Background {
			p.over[e.Client] = true
		}
	}
}

// known is "mutex.go:64" if the page has that file.
func (p *places) known(s *world.Source) string {
	if s == nil || path.Dir(s.File) != p.code.Dir {
		return ""
	}
	if !slices.ContainsFunc(p.code.Files, func(f File) bool { return f.Name == path.Base(s.File) }) {
		return ""
	}
	return path.Base(s.String())
}

// begins is the line where the method of that name begins, "" where there is none.
func (p *places) begins(op string) string {
	if at, known := p.entry[op]; known {
		return at
	}
	method := regexp.MustCompile(`(?m)^func \(\w+ \*\w+\) ` + regexp.QuoteMeta(op) + `\(`)
	for _, f := range p.code.Files {
		if at := method.FindStringIndex(f.Text); at != nil {
			line := world.Source{File: f.Name, Line: 1 + strings.Count(f.Text[:at[0]], "\n")}
			p.entry[op] = line.String()
			return p.entry[op]
		}
	}
	p.entry[op] = ""
	return ""
}

func (p *places) calls() []string {
	return each(p.lanes, func(lane string) string {
		switch op := p.ops[lane].Op; op {
		case "":
			return ""
		case world.OpCheck, world.OpInsert:
			return "writes to the ledger"
		case world.OpRun:
			return "runs a command of its own"
		default:
			return "in " + op + "()"
		}
	})
}

func (p *places) lines() []string {
	return each(p.lanes, func(lane string) string {
		line := p.line[lane]
		if background := p.sent[lane]; background != "" {
			line = strings.TrimSpace(line + " ~" + background)
		}
		return line
	})
}

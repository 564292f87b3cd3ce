package timeline

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// Code is the source of the lock that a trace is of. Without files a page shows no
// code.
type Code struct {
	Dir   string // the folder's name, as in [world.Source]
	Files []File
}

// File is a file of a lock's source.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// sources follows which lines of the lock each lane runs.
type sources struct {
	lanes []string
	code  Code
	open  map[string]world.Event // lane → the call it is in
	line  map[string]string      // lane → the line of that call
	sent  map[string]string      // lane → the line in the background
	over  map[string]bool        // lanes whose line in the background ends with this label
	entry map[string]string      // call → the line where it begins
}

func newSources(lanes []string, code Code) *sources {
	return &sources{
		lanes: lanes, code: code, open: map[string]world.Event{}, line: map[string]string{},
		sent: map[string]string{}, over: map[string]bool{}, entry: map[string]string{},
	}
}

// next forgets what ended with the label before.
func (s *sources) next() {
	for lane := range s.over {
		delete(s.sent, lane)
	}
	clear(s.over)
}

func (s *sources) follow(scene *world.Scene) {
	e := scene.Event
	for _, lane := range s.lanes {
		call, busy := scene.Call(lane)
		switch {
		case !busy:
			delete(s.open, lane)
			delete(s.line, lane)
		case s.open[lane].Call != call.Call:
			s.open[lane], s.line[lane] = call, s.begins(call.Op)
		}
	}
	switch e.Kind {
	case world.Crashed:
		delete(s.sent, e.Client)
	case world.Sent, world.Executed, world.Refused:
		line := s.known(e.Source)
		switch {
		case line == "":
		case e.Background:
			s.sent[e.Client] = line
			delete(s.over, e.Client)
		case s.open[e.Client].Call == e.Call:
			s.line[e.Client] = line
		}
	case world.Delivered, world.Dropped:
		if e.Background {
			s.over[e.Client] = true
		}
	}
}

// known is "mutex.go:64" if the page has that file.
func (s *sources) known(source *world.Source) string {
	if source == nil || path.Dir(source.File) != s.code.Dir {
		return ""
	}
	if !slices.ContainsFunc(s.code.Files, func(f File) bool { return f.Name == path.Base(source.File) }) {
		return ""
	}
	return path.Base(source.String())
}

// begins is the line where the method of that name begins, "" where there is none.
func (s *sources) begins(op string) string {
	if at, known := s.entry[op]; known {
		return at
	}
	s.entry[op] = ""
	method := regexp.MustCompile(`(?m)^func \(\w+ \*\w+\) ` + regexp.QuoteMeta(op) + `\(`)
	for _, f := range s.code.Files {
		if at := method.FindStringIndex(f.Text); at != nil {
			s.entry[op] = world.Source{File: f.Name, Line: 1 + strings.Count(f.Text[:at[0]], "\n")}.String()
			break
		}
	}
	return s.entry[op]
}

var (
	inCall     = texts.New("in {call}()")
	inLedger   = texts.New("writes to the ledger")
	inBusiness = texts.New("runs a command of its own")
)

func (s *sources) calls(l texts.Language) (does []string) {
	for _, lane := range s.lanes {
		switch op := s.open[lane].Op; op {
		case "":
			does = append(does, "")
		case world.OpCheck, world.OpInsert:
			does = append(does, inLedger.In(l))
		case world.OpRun:
			does = append(does, inBusiness.In(l))
		default:
			does = append(does, inCall.In(l, "call", op))
		}
	}
	return does
}

func (s *sources) lines() (lines []string) {
	for _, lane := range s.lanes {
		line := s.line[lane]
		if background := s.sent[lane]; background != "" {
			line = strings.TrimSpace(line + " ~" + background)
		}
		lines = append(lines, line)
	}
	return lines
}

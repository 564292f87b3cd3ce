package engine

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// sources tracks the lines of the lock that each lane runs.
type sources struct {
	code  stages.Code
	line  map[int]string    // call → its line
	sent  map[string]string // lane → the line in the background
	over  map[string]bool   // lanes whose background line ends with this row
	entry map[string]string // call's name → the line where it begins
}

func newSources(code stages.Code) *sources {
	return &sources{code: code, line: map[int]string{}, sent: map[string]string{}, over: map[string]bool{}, entry: map[string]string{}}
}

// next removes the lines that ended with the row before.
func (s *sources) next() {
	for lane := range s.over {
		delete(s.sent, lane)
	}
	clear(s.over)
}

func (s *sources) follow(e trace.Event) {
	switch e.Kind {
	case trace.Crashed:
		delete(s.sent, e.Client)
	case trace.Sent, trace.Executed, trace.Refused:
		line := s.known(e.Source)
		switch {
		case line == "":
		case e.Background:
			s.sent[e.Client] = line
			delete(s.over, e.Client)
		default:
			s.line[e.Call] = line
		}
	case trace.Delivered, trace.Dropped:
		if e.Background {
			s.over[e.Client] = true
		}
	}
}

// known returns "mutex.go:64", if the page has that file.
func (s *sources) known(source *trace.Source) string {
	if source == nil || path.Dir(source.File) != path.Base(s.code.Dir) {
		return ""
	}
	if !slices.ContainsFunc(s.code.Files, func(f stages.File) bool { return f.Name == path.Base(source.File) }) {
		return ""
	}
	return path.Base(source.String())
}

// begins returns the line where the method of that name begins; "" if there is no such method.
func (s *sources) begins(op string) string {
	if at, known := s.entry[op]; known {
		return at
	}
	s.entry[op] = ""
	for _, f := range s.code.Files {
		before, _, _ := strings.Cut(f.Text, ") "+op+"(")
		if line := strings.LastIndex(before, "\n") + 1; len(before) < len(f.Text) && strings.HasPrefix(before[line:], "func (") {
			s.entry[op] = trace.Source{File: f.Name, Line: 1 + strings.Count(before, "\n")}.String()
			break
		}
	}
	return s.entry[op]
}

var (
	inCall     = i18n.New("in {call}()")
	inLedger   = i18n.New("writes to the ledger")
	inBusiness = i18n.New("runs its own command")
)

// does returns the call that a lane is in, "" for none, and the lines of the lock that it runs.
func (s *sources) does(lane string, scene *trace.Scene, l i18n.Language) (call, lines string) {
	now, busy := scene.Call(lane)
	switch {
	case !busy:
	case now.Op == trace.OpCheck || now.Op == trace.OpInsert:
		call = inLedger.Localize(l)
	case now.Op == trace.OpRun:
		call = inBusiness.Localize(l)
	default:
		call = inCall.Localize(l, "call", now.Op)
	}
	if busy {
		lines = cmp.Or(s.line[now.Call], s.begins(now.Op))
	}
	if background := s.sent[lane]; background != "" {
		lines = strings.TrimSpace(lines + " ~" + background)
	}
	return call, lines
}

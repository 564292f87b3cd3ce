package timeline

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
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
	At     string   `json:"at"`
	Time   float64  `json:"ms"`
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
func NewRun(trace *world.Trace, found []oracle.Finding, code Code) Run {
	p := newPicture(trace, found)
	r := &reel{
		story: &story{trace: trace, key: p.key}, scene: newScene(trace.Lanes), company: newCompany(found),
		at: newPlaces(trace.Lanes, code), state: map[string]rune{},
	}
	run := Run{Lanes: trace.Lanes, Key: p.key, Lease: milliseconds(trace.Lease), Ledger: p.ledger, Steps: []Step{}}
	var before Step
	rest := trace.Events
	for _, row := range p.rows {
		r.at.next()
		for last := row.events[len(row.events)-1].Step; len(rest) > 0 && rest[0].Step <= last; rest = rest[1:] {
			r.follow(rest[0])
		}
		if row.isEmpty() {
			continue
		}
		step := r.step(row)
		run.Steps = append(run.Steps, step.without(before))
		before = step
	}
	return run
}

// reel follows a trace from step to step.
type reel struct {
	story   *story
	scene   *scene
	company *company
	at      *places
	state   map[string]rune // of processes
}

func (r *reel) follow(e world.Event) {
	r.scene.follow(e)
	r.company.follow(e)
	r.at.follow(e)
	switch e.Kind {
	case world.Crashed:
		r.state[e.Process] = 'd'
	case world.Cut:
		r.state[e.Process] = 'n'
	case world.Healed:
		delete(r.state, e.Process)
	}
}

func (r *reel) step(row row) Step {
	first, last := row.events[0], row.events[len(row.events)-1]
	s := Step{
		At: tick(row.at), Time: milliseconds(row.at), Lane: row.lane, Kind: string(first.Kind), Text: row.text,
		Redis: row.redis, Ledger: row.ledger, Says: r.sentence(row),
		Inside: r.company.letters(r.scene), State: r.states(), Does: r.at.calls(), Lines: r.at.lines(),
	}
	switch first.Kind {
	case world.Delivered:
		s.Text = arrival(first)
	case world.Stored:
		if short := ledgerReply(first); short != first.Reply {
			s.Text, s.Full = strings.Replace(s.Text, first.Reply, short, 1), first.Reply
		}
	}
	if line := r.story.line(first); first.Kind == world.Executed || first.Kind == world.Refused {
		whole := r.story.shorten(first.Line())
		if short := strings.TrimPrefix(line, "background: "); short != whole {
			s.Text, s.Full = strings.Replace(s.Text, whole, short, 1), whole
		}
	}
	keys := r.keys()
	s.Keys = &keys
	for _, o := range r.scene.orders {
		s.Orders = append(s.Orders, o.Name+" by "+o.Client)
	}
	for _, f := range row.found {
		s.Found = append(s.Found, string(f.Monitor)+": "+r.story.shorten(f.Text))
	}
	if last.At > first.At && s.Kind == string(world.Executed) {
		s.At += " … " + tick(last.At)
		s.Time = milliseconds(last.At)
	}
	return s
}

// without leaves out what is as it was.
func (s Step) without(before Step) Step {
	if s.Inside == before.Inside {
		s.Inside = ""
	}
	if s.State == before.State {
		s.State = ""
	}
	if slices.Equal(s.Does, before.Does) {
		s.Does = nil
	}
	if slices.Equal(s.Lines, before.Lines) {
		s.Lines = nil
	}
	if slices.Equal(s.Orders, before.Orders) {
		s.Orders = nil
	}
	if before.Keys != nil && slices.Equal(*s.Keys, *before.Keys) {
		s.Keys = nil
	}
	return s
}

func (r *reel) states() string {
	letters := make([]rune, len(r.scene.lanes))
	for i, lane := range r.scene.lanes {
		process := r.scene.process[lane]
		switch {
		case r.state[process] == 'd':
			letters[i] = 'd'
		case r.scene.still[process]:
			letters[i] = 's'
		case r.state[process] != 0:
			letters[i] = r.state[process]
		default:
			letters[i] = '-'
		}
	}
	return string(letters)
}

func (r *reel) keys() []Held {
	keys := []Held{}
	for _, k := range r.scene.keys {
		held := Held{
			Name: r.story.shorten(k.Name), Value: r.story.shorten(k.Value), Owner: k.Owner.Label,
			Lane: slices.Index(r.scene.lanes, k.Owner.Client), Until: -1,
		}
		if k.TTL != world.NoTTL {
			held.Until = milliseconds(r.scene.keysAt + k.TTL)
		}
		keys = append(keys, held)
	}
	return keys
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

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

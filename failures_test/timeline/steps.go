package timeline

import (
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
		At: rounded(row.at), Time: milliseconds(row.at), Lane: row.lane, Kind: string(first.Kind), Text: row.text,
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
		s.At += " … " + rounded(last.At)
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

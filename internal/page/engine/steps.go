package engine

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Run is a trace as steps, for a page that shows one after the other. A field that a step leaves
// out is the same as in the step before.
type Run struct {
	Lanes   []string `json:"lanes"`
	Key     string   `json:"key,omitempty"`   // the lock's key, written K in texts
	Other   string   `json:"other,omitempty"` // the other lock's key, written L, where clients take two
	Lease   float64  `json:"lease"`           // in milliseconds, as all times
	Ledger  bool     `json:"ledger,omitempty"`
	Servers []string `json:"servers,omitempty"` // their names, if there are several
	Steps   []Step   `json:"steps"`
	Folded  []int    `json:"folded,omitempty"` // the steps' numbers in a page that has each step once
	Moves   []Move   `json:"moves,omitempty"`
}

// Move is a [timeline.Message] for a page, between steps counted from 1. A step is left out if there is none.
type Move struct {
	Lane     int   `json:"lane"` // -1: a message to which no client listens
	Sent     int   `json:"sent,omitempty"`
	Executed int   `json:"done,omitempty"`
	Read     int   `json:"read,omitempty"`
	Lost     int   `json:"lost,omitempty"`
	Over     int   `json:"over,omitempty"` // from then on its client does not wait for it
	Servers  []int `json:"on,omitempty"`   // numbers of Servers
	Ledger   bool  `json:"ledger,omitempty"`
}

// Step is a [timeline.Row] for a page.
type Step struct {
	At     string   `json:"at,omitempty"`
	Time   float64  `json:"ms,omitempty"`
	Lane   int      `json:"lane"`
	Kind   string   `json:"kind"`
	Text   string   `json:"text"`
	Says   string   `json:"says"`
	Inside string   `json:"inside,omitempty"` // a letter for each lane: - outside, i inside, x with another client, e the same but excused
	State  string   `json:"state,omitempty"`  // a letter for each lane: - runs, w waits for the lock, s paused, d dead, n without network
	Does   []string `json:"does,omitempty"`   // the call of each lane; "" for none
	Lines  []string `json:"lines,omitempty"`  // the lines of the lock that each lane runs: "mutex.go:64 ~watchdog.go:84", ~ in the background
	Keys   *[]Held  `json:"keys,omitempty"`
	Orders []string `json:"orders,omitempty"`
	Redis  string   `json:"redis,omitempty"`
	Ledger string   `json:"ledger,omitempty"`
	Found  []string `json:"found,omitempty"`
	Sent   []string `json:"sent,omitempty"`  // the line of the lock for each of Found; "" for none
	Wrong  []int    `json:"wrong,omitempty"` // the servers whose key is deleted or renewed wrongly; 0 if there is one server
	Down   []int    `json:"down,omitempty"`  // the servers that die
}

// Held is a key in Redis.
type Held struct {
	Name   string  `json:"name"`
	Value  string  `json:"value"`
	Owner  string  `json:"owner"`            // A1
	Lane   int     `json:"lane"`             // of the owner; -1: no client
	Until  float64 `json:"until"`            // when its lease ends; -1: never
	Server string  `json:"server,omitempty"` // its name, if there are several
}

// NewRun returns a trace as steps. Without files in code it names no lines.
func NewRun(tr *trace.Trace, found []oracle.Finding, code stages.Code, language i18n.Language) Run {
	story := timeline.NewStory(tr, found, language)
	run := Run{Lanes: tr.Clients, Key: story.Key, Other: story.Other, Lease: milliseconds(tr.Lease), Servers: story.Bars, Steps: []Step{}}
	at, scene := newSources(code), tr.UpTo(0).End()
	var before Step
	rows := story.Rows()
	for _, row := range rows {
		if scene.Index < row.Last { // several rows may describe the same events
			at.next()
		}
		for scene.Index < row.Last {
			scene = tr.Scenes()[scene.Index+1]
			at.follow(*scene.Event)
			run.Ledger = run.Ledger || len(scene.Orders) > 0
		}
		step := stepOf(row, tr.Clients)
		for _, f := range row.Found {
			if f.Rule == oracle.WrongDelete || f.Rule == oracle.WrongExtend {
				step.Wrong = append(step.Wrong, max(0, story.Bar(max(0, f.Step-1))))
			}
		}
		if slices.Contains([]trace.ServerFault{trace.Promoted, trace.Stopped, trace.Restarted, trace.FailedOver}, row.Event.Fault) && row.First >= 0 {
			step.Down = []int{max(0, story.Bar(row.First))}
		}
		for _, lane := range tr.Clients {
			does, lines := at.does(lane, scene, language)
			step.Does, step.Lines = append(step.Does, does), append(step.Lines, lines)
		}
		for _, f := range row.Found {
			step.Sent = append(step.Sent, at.known(f.CommandIn(tr).Source))
		}
		run.Steps = append(run.Steps, step.without(before))
		before = step
	}
	for _, m := range story.Messages(rows) {
		run.Moves = append(run.Moves, Move{m.Lane, m.Sent + 1, m.Executed + 1, m.Read + 1, m.Lost + 1, m.Over + 1, m.Servers, m.Ledger})
	}
	return run
}

// shorten writes K for the lock's key.
func (r Run) shorten(text string) string {
	if r.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, r.Key, "K")
}

func stepOf(row timeline.Row, lanes []string) Step {
	keys := []Held{}
	for _, k := range row.After.Keys {
		held := Held{Name: k.Name, Value: k.Value(), Owner: k.Owner.Label, Lane: slices.Index(lanes, k.Owner.Client), Until: -1, Server: k.Server}
		if k.TTL != trace.NoTTL {
			held.Until = milliseconds(row.After.KeysAt + k.TTL)
		}
		keys = append(keys, held)
	}
	inside, state := "", ""
	for _, c := range row.After.Clients {
		inside += string("-ixe"[c.Inside])
		state += letterOf(c)
	}
	return Step{
		At: strings.Join(timeline.Clock(row.At, row.Until), " "), Time: milliseconds(row.Until), Lane: row.Lane, Kind: string(row.Event.Kind),
		Text: row.Text, Says: row.Says, Inside: inside, State: state, Keys: &keys, Orders: row.Orders,
		Redis: row.Redis, Ledger: row.Ledger, Found: row.Findings,
	}
}

func letterOf(c timeline.Client) string {
	switch {
	case c.Process.Dead:
		return "d"
	case c.Process.Frozen:
		return "s"
	case c.Process.Cut:
		return "n"
	case c.Waits:
		return "w"
	}
	return "-"
}

// without leaves out the fields that have not changed.
func (s Step) without(before Step) Step {
	if s.At == before.At {
		s.At = ""
	}
	if s.Time == before.Time {
		s.Time = 0
	}
	if s.Inside == before.Inside {
		s.Inside = ""
	}
	if s.State == before.State {
		s.State = ""
	}
	for _, list := range []struct{ now, was *[]string }{{&s.Does, &before.Does}, {&s.Lines, &before.Lines}, {&s.Orders, &before.Orders}} {
		if slices.Equal(*list.now, *list.was) {
			*list.now = nil
		}
	}
	if before.Keys != nil && slices.Equal(*s.Keys, *before.Keys) {
		s.Keys = nil
	}
	return s
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

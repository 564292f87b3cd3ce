package schedule

import (
	"fmt"
	"time"
)

// Answer is what a search found about one property of one lock.
type Answer struct {
	Property  string  `json:"property"`
	Env       string  `json:"env"`
	Clients   int     `json:"clients"`
	Attempts  int     `json:"attempts"`
	Bound     int     `json:"bound"`     // up to which everything was looked at; -1: nothing was
	Exhausted bool    `json:"exhausted"` // the search was not cut short
	Runs      int     `json:"schedules"`
	States    int     `json:"states"`
	Seconds   float64 `json:"seconds"`
	Found     bool    `json:"found"`
	Cost      int     `json:"cost,omitempty"`
	Steps     int     `json:"steps,omitempty"`
	Text      string  `json:"text,omitempty"`
	Schedule  string  `json:"schedule,omitempty"`
}

// Answers says what a result means for each property. s is what was searched, and
// took how long that was.
func (r Result) Answers(s Setup, properties []Property, took time.Duration) []Answer {
	var all []Answer
	for _, p := range properties {
		one := Answer{
			Property: p.Name, Env: s.Env.Name, Clients: s.Clients, Attempts: s.Attempts,
			Bound: r.Bound, Exhausted: r.Exhausted, Runs: r.Runs, States: r.States, Seconds: took.Seconds(),
		}
		if !r.Exhausted {
			one.Bound--
		}
		if found := r.Found[p.Name]; found != nil {
			s.Property = p
			one.Found, one.Cost, one.Steps = true, found.Cost, len(found.Schedule)
			one.Text, one.Schedule = found.Finding.Text, Text(s, found.Schedule)
		}
		all = append(all, one)
	}
	return all
}

// Question is what was asked, in a line.
func (a Answer) Question() string {
	attempts := "1 attempt"
	if a.Attempts != 1 {
		attempts = fmt.Sprintf("%d attempts", a.Attempts)
	}
	return fmt.Sprintf("%s in %s (%d clients, %s each)", a.Property, a.Env, a.Clients, attempts)
}

// String is the answer: what is broken and how cheaply, or the bound up to which
// nothing was found.
func (a Answer) String() string {
	how := fmt.Sprintf("%d schedules, %d states", a.Runs, a.States)
	switch {
	case a.Found:
		nothing := ""
		if a.Exhausted {
			nothing = "; nothing shorter exists"
		}
		return fmt.Sprintf("  broken: %s\n  cost %d, %d steps%s (%s)\n", a.Text, a.Cost, a.Steps, nothing, how)
	case a.Bound < 0:
		return fmt.Sprintf("  cut short before all schedules of cost 0 were run (%s)\n", how)
	}
	return fmt.Sprintf("  no violation up to cost %d (%s)\n", a.Bound, how)
}

// Cheaper tells whether the answer is a shorter way to break something than the
// other: by cost, then by steps.
func (a Answer) Cheaper(other Answer) bool {
	return a.Found && (!other.Found || a.Cost < other.Cost || a.Cost == other.Cost && a.Steps < other.Steps)
}

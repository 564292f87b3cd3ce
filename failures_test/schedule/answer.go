package schedule

import (
	"cmp"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

// Answer is the result of a search for one property of one lock.
type Answer struct {
	Property  string  `json:"property"`
	Env       string  `json:"env"`
	Clients   int     `json:"clients"`
	Attempts  int     `json:"attempts"`
	Bound     int     `json:"bound"`     // every schedule up to this cost was run; -1: not even those of cost 0
	Exhausted bool    `json:"exhausted"` // the search was not stopped early
	Runs      int     `json:"schedules"`
	States    int     `json:"states"`
	Seconds   float64 `json:"seconds"`
	Found     bool    `json:"found"`
	Cost      int     `json:"cost,omitempty"`
	Steps     int     `json:"steps,omitempty"`
	Text      string  `json:"text,omitempty"`
	Schedule  string  `json:"schedule,omitempty"`

	finding oracle.Finding // of Text
}

// Answers returns the answer for each property. s is the searched setup, took the duration.
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
			one.finding, one.Text, one.Schedule = found.Finding, found.Finding.Text, Text(s, found.Schedule)
		}
		all = append(all, one)
	}
	return all
}

// Texts of an answer.
var (
	asked         = i18n.NewPlural("{property} in {env} ({clients} clients, 1 attempt each)", "{property} in {env} ({clients} clients, {n} attempts each)")
	foundShortest = i18n.New("  broken: {what}\n  {length}; nothing shorter exists ({runs} schedules, {states} states)\n")
	foundOne      = i18n.New("  broken: {what}\n  {length} ({runs} schedules, {states} states)\n")
	cutShort      = i18n.New("  cut short before all schedules without a fault were run ({runs} schedules, {states} states)\n")
	foundNone     = i18n.New("  no violation up to {bound} ({runs} schedules, {states} states)\n")
	length        = i18n.NewPlural("1 step, {faults}", "{n} steps, {faults}")
	faultCount    = i18n.NewPlural("1 fault", "{n} faults")
)

// QuestionIn returns the question in one line.
func (a Answer) QuestionIn(l i18n.Language) string {
	return asked.Of(a.Attempts, "property", NameIn(l, a.Property), "env", NameIn(l, a.Env), "clients", a.Clients).Localize(l)
}

// TextIn returns the finding. An answer from another process exists only in the language of that
// process.
func (a Answer) TextIn(l i18n.Language) string {
	return cmp.Or(a.finding.Localize(l), a.Text)
}

// Localize returns the answer: the violation and its length, or the bound up to which there is
// none.
func (a Answer) Localize(l i18n.Language) string {
	say := foundNone
	switch {
	case a.Found && a.Exhausted:
		say = foundShortest
	case a.Found:
		say = foundOne
	case a.Bound < 0:
		say = cutShort
	}
	return say.Localize(l, "what", a.TextIn(l), "length", Length(a.Cost, a.Steps), "bound", Faults(a.Bound), "runs", a.Runs, "states", a.States)
}

// Length returns the length of a schedule in words.
func Length(faults, steps int) i18n.Message { return length.Of(steps, "faults", Faults(faults)) }

// Faults returns a number of faults in words.
func Faults(n int) i18n.Message { return faultCount.Of(n) }

// Cheaper reports whether the answer has a counterexample with a lower cost than the other, or the
// same cost and fewer steps.
func (a Answer) Cheaper(other Answer) bool {
	return a.Found && (!other.Found || a.Cost < other.Cost || a.Cost == other.Cost && a.Steps < other.Steps)
}

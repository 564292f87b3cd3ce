package schedule

import (
	"cmp"
	"slices"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Played is the record of a run.
type Played struct {
	Trace    *trace.Trace
	Schedule []string // the tokens of the choices taken
	Costs    []int    // of each choice

	points []Point // before each choice, and at the end
	taken  bool    // it continued a failure's run
}

// Options returns the options after so many steps: none where the run has ended.
func (p Played) Options(steps int) []Option {
	if steps < len(p.points) {
		return p.points[steps].Choices
	}
	return nil
}

// Chosen returns the option that was taken after so many steps.
func (p Played) Chosen(steps int) Option {
	all := p.Options(steps)
	return all[slices.IndexFunc(all, func(o Option) bool { return o.Token == p.Schedule[steps] })]
}

// Events returns the number of events after so many steps, when all clients wait again.
func (p Played) Events(steps int) int {
	if steps < len(p.points) {
		return p.points[steps].Events
	}
	return len(p.Trace.Events)
}

// Now returns the fake time after so many steps.
func (p Played) Now(steps int) time.Duration {
	if len(p.Options(steps)) > 0 {
		return p.points[steps].Now
	}
	return p.Trace.Events[len(p.Trace.Events)-1].At
}

// Last returns the events of the last step, and of the end of the run if it has ended.
func (p Played) Last() []trace.Event {
	if n := len(p.Schedule); n > 0 {
		return p.Trace.Events[p.Events(n-1):]
	}
	return nil
}

// Faults returns how many of the steps are faults.
func (p Played) Faults() (sum int) {
	for _, cost := range p.Costs {
		sum += cost
	}
	return sum
}

// Broken returns the findings of these rules, without those of the failure's run.
func (p Played) Broken(by []oracle.Rule) (found []oracle.Finding) {
	for _, f := range oracle.Ask(p.Trace, by...) {
		if !p.taken || f.Step > p.Events(0) {
			found = append(found, f)
		}
	}
	return found
}

// UpTo returns the shortest part of a run in which the rules report a violation. The step of a
// finding can be long before the step at which it becomes visible.
func (p Played) UpTo(first oracle.Finding, by []oracle.Rule) *Counterexample {
	steps, part, trace := 1, p, *p.Trace
	part.Trace = &trace
	for ; steps < len(p.Schedule); steps++ {
		trace.Events = p.Trace.Events[:p.Events(steps)]
		if p.Events(steps) >= first.Step && len(part.Broken(by)) > 0 {
			break
		}
	}
	steps = min(steps, len(p.Schedule)) // 0 if no step was taken
	cost := 0
	for _, c := range p.Costs[:steps] {
		cost += c
	}
	return &Counterexample{Schedule: p.Schedule[:steps], Cost: cost, Finding: first}
}

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

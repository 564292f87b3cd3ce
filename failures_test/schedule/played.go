package schedule

import (
	"slices"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
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

package game

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
)

// Run is a lock's run under a schedule, with the options before each step.
type Run struct {
	schedule.Played
	Found  []oracle.Finding // where it breaks the setup's property
	points []point
}

// point is the state before a step, or where a run was stopped.
type point struct {
	options []schedule.Option
	now     time.Duration
}

// Follow runs a lock from its beginning under these steps, and stops at the end or before a step
// that is not possible, which is the error.
func Follow(t *testing.T, setup schedule.Setup, steps []string) (Run, error) {
	var astray error
	r, err := Play(t, setup, schedule.Follow(steps, &astray))
	if n := len(r.Schedule); astray == nil && n < len(steps) {
		astray = schedule.Astray(n+1, steps[n])
	}
	return r, cmp.Or(err, astray)
}

// Play runs a lock with the steps that the chooser takes.
func Play(t *testing.T, setup schedule.Setup, choose schedule.Chooser) (r Run, err error) {
	r.Played, err = schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
		r.points = append(r.points, point{p.Choices, p.World.Now()})
		return choose(p)
	})
	if err == nil {
		r.Found = r.Broken(setup.Property.Breaks)
	}
	return r, err
}

// Options returns the options after so many steps: none where the run has ended.
func (r Run) Options(steps int) []schedule.Option {
	if steps < len(r.points) {
		return r.points[steps].options
	}
	return nil
}

// Chosen returns the option that was taken after so many steps.
func (r Run) Chosen(steps int) schedule.Option {
	all := r.Options(steps)
	return all[slices.IndexFunc(all, func(o schedule.Option) bool { return o.Token == r.Schedule[steps] })]
}

// Events returns the number of events after so many steps, when all clients wait again.
func (r Run) Events(steps int) int {
	if steps == 0 {
		return r.Begun
	}
	return r.Ends[steps-1]
}

// Now returns the fake time after so many steps.
func (r Run) Now(steps int) time.Duration {
	if steps < len(r.points) {
		return r.points[steps].now
	}
	return r.Trace.Events[len(r.Trace.Events)-1].At
}

// Last returns the events of the last step, and of the end of the run if it has ended.
func (r Run) Last() []trace.Event {
	if n := len(r.Schedule); n > 0 {
		return r.Trace.Events[r.Events(n-1):]
	}
	return nil
}

// Faults returns how many of the steps are faults.
func (r Run) Faults() (sum int) {
	for _, cost := range r.Costs {
		sum += cost
	}
	return sum
}

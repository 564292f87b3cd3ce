package quiz

import (
	"slices"
	"testing"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
)

// Run is a lock's run under a schedule, with what could be chosen on the way.
type Run struct {
	schedule.Played
	Astray error            // the step that was not possible
	Found  []oracle.Finding // where it breaks the setup's property
	points []point
}

// point is a moment before a step, or where a run was stopped.
type point struct {
	options []schedule.Option
	events  int // how many there were
	now     time.Duration
}

// Follow runs a lock from its beginning under these steps, and stops there.
func Follow(t *testing.T, setup schedule.Setup, steps []string) (Run, error) {
	var r Run
	var err error
	next := schedule.Follow(steps, &r.Astray)
	r.Played, err = schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
		r.points = append(r.points, point{p.Choices, len(p.World.Trace().Events), p.World.Now()})
		return next(p)
	})
	if n := len(r.Schedule); err == nil && r.Astray == nil && n < len(steps) {
		r.Astray = schedule.Astray(n+1, steps[n])
	}
	if err == nil {
		r.Found = r.Broken(setup.Property.Breaks)
	}
	return r, err
}

// Options are what could be chosen after so many steps: nothing where the run has ended.
func (r Run) Options(steps int) []schedule.Option {
	if steps < len(r.points) {
		return r.points[steps].options
	}
	return nil
}

// Next is what can be chosen where the run was stopped.
func (r Run) Next() []schedule.Option { return r.Options(len(r.Schedule)) }

// Chosen is the option that was chosen after so many steps.
func (r Run) Chosen(steps int) schedule.Option {
	all := r.Options(steps)
	return all[slices.IndexFunc(all, func(o schedule.Option) bool { return o.Token == r.Schedule[steps] })]
}

// Events is how many events there were after so many steps, when all rested again.
func (r Run) Events(steps int) int {
	if steps == 0 {
		return r.points[0].events
	}
	return r.Ends[steps-1]
}

// Now is the fake time after so many steps.
func (r Run) Now(steps int) time.Duration {
	if steps < len(r.points) {
		return r.points[steps].now
	}
	return r.Trace.Events[len(r.Trace.Events)-1].At
}

// Last is what the last step did, and the end of the run if it has ended.
func (r Run) Last() []world.Event {
	if n := len(r.Schedule); n > 0 {
		return r.Trace.Events[r.Events(n-1):]
	}
	return nil
}

// Cost is what all steps cost.
func (r Run) Cost() (sum int) {
	for _, cost := range r.Costs {
		sum += cost
	}
	return sum
}

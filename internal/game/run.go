package game

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
)

// Run is a lock's run under a schedule, with what could be chosen on the way.
type Run struct {
	schedule.Played
	Found  []oracle.Finding // where it breaks the setup's property
	points []point
}

// point is a moment before a step, or where a run was stopped.
type point struct {
	options []schedule.Option
	now     time.Duration
}

// Follow runs a lock from its beginning under these steps, and stops there, or before a step that is
// not possible, which is the error.
func Follow(t *testing.T, setup schedule.Setup, steps []string) (Run, error) {
	var astray error
	r, err := Play(t, setup, schedule.Follow(steps, &astray))
	if n := len(r.Schedule); astray == nil && n < len(steps) {
		astray = schedule.Astray(n+1, steps[n])
	}
	return r, cmp.Or(err, astray)
}

// Play runs a lock as the chooser chooses.
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

// Options are what could be chosen after so many steps: nothing where the run has ended.
func (r Run) Options(steps int) []schedule.Option {
	if steps < len(r.points) {
		return r.points[steps].options
	}
	return nil
}

// Chosen is the option that was chosen after so many steps.
func (r Run) Chosen(steps int) schedule.Option {
	all := r.Options(steps)
	return all[slices.IndexFunc(all, func(o schedule.Option) bool { return o.Token == r.Schedule[steps] })]
}

// Events is how many events there were after so many steps, when all rested again.
func (r Run) Events(steps int) int {
	if steps == 0 {
		return r.Begun
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

// Faults is how many of the steps are faults.
func (r Run) Faults() (sum int) {
	for _, cost := range r.Costs {
		sum += cost
	}
	return sum
}

// Told returns in a word what a call told its client: held, refused, done, panic or error. An error
// of the lock itself, which says that it is not held, is "refused with an error".
func Told(r world.Result) string {
	switch {
	case r.Claim == world.ClaimPanic:
		return "panic"
	case r.Error != "" && r.Claim == world.ClaimRefused:
		return "refused with an error"
	case r.Error != "":
		return "error"
	case r.Held:
		return "held"
	case r.Claim == world.ClaimDone:
		return "done"
	}
	return "refused"
}

// KeyOwner returns whose key Redis holds at the end of a trace: "no key", "A1", or "A1!" without a lease.
func KeyOwner(trace *world.Trace) string {
	for _, k := range trace.End().Keys {
		switch {
		case k.Name != trace.LockKey():
		case k.TTL == world.NoTTL:
			return k.Owner.Label + "!"
		default:
			return k.Owner.Label
		}
	}
	return "no key"
}

// Names joins names of clients: "nobody", "A", "A and B".
func Names(names []string) string { return cmp.Or(strings.Join(names, " and "), "nobody") }

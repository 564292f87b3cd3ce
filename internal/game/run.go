package game

import (
	"cmp"
	"testing"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
)

// Run is a lock's run under a schedule.
type Run struct {
	schedule.Played
	Found []oracle.Finding // where it breaks the setup's property
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
	r.Played, err = schedule.Play(t, setup, choose)
	if err == nil {
		r.Found = r.Broken(setup.Property.Breaks)
	}
	return r, err
}

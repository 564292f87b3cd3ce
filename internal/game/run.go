package game

import (
	"cmp"
	"strings"
	"testing"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
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

// ResultWord returns the result of a call in a word: held, refused, done, panic or error. The lock's own
// error for a lock that is not held is "refused with an error".
func ResultWord(r trace.Result) string {
	switch {
	case r.Claim == trace.ClaimPanic:
		return "panic"
	case r.Error != "" && r.Claim == trace.ClaimRefused:
		return "refused with an error"
	case r.Error != "":
		return "error"
	case r.Held:
		return "held"
	case r.Claim == trace.ClaimDone:
		return "done"
	}
	return "refused"
}

// KeyOwner returns the owner of the key in Redis at the end of a trace: "no key", "A1", or "A1!" without a lease.
func KeyOwner(tr *trace.Trace) string {
	for _, k := range tr.End().Keys {
		switch {
		case k.Name != tr.LockKey():
		case k.TTL == trace.NoTTL:
			return k.Owner.Label + "!"
		default:
			return k.Owner.Label
		}
	}
	return "no key"
}

// Names joins names of clients: "A and B". Without names it returns the word for none.
func Names(names []string) string { return cmp.Or(strings.Join(names, " and "), "nobody") }

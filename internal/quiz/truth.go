package quiz

import (
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Truth reads from a run that is shown up to cut what really happened, in a few words.
type Truth func(trace *world.Trace, cut int) string

// Told is what the call is told that returns next to that client: held, refused, done,
// panic, or error. An error of the lock itself, which says that it is not held, is
// "refused with an error". It is nothing if no call returns.
func Told(client string) Truth {
	return func(trace *world.Trace, cut int) string {
		for _, e := range trace.Events[cut:] {
			if e.Kind == world.Returned && e.Client == client {
				return told(*e.Result)
			}
		}
		return "nothing"
	}
}

func told(r world.Result) string {
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

// Insiders are those who believe in the end that they hold the lock.
func Insiders(trace *world.Trace, _ int) string { return and(End(trace).Insiders()) }

// Key is whose key Redis holds in the end: "no key", "A1", or "A1!" without a lease.
func Key(trace *world.Trace, _ int) string {
	for _, k := range End(trace).Keys {
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

// End is how things stand at the end of a trace.
func End(trace *world.Trace) *world.Scene { return trace.End() }

// KeyAfter is whose key Redis holds after the next command of that client.
func KeyAfter(client string) Truth {
	return func(trace *world.Trace, cut int) string {
		next := slices.IndexFunc(trace.Events[cut:], func(e world.Event) bool { return e.Kind == world.Executed && e.Client == client })
		if next < 0 {
			return "nothing"
		}
		return Key(UpTo(trace, cut+next+1), cut)
	}
}

// Orders is who has written into the ledger in the end.
func Orders(trace *world.Trace, _ int) string {
	var names []string
	for _, o := range End(trace).Orders {
		names = append(names, o.Client)
	}
	return and(names)
}

// Broken tells whether one of these rules is broken: yes or no.
func Broken(rules []oracle.Monitor) Truth {
	return func(trace *world.Trace, _ int) string {
		if len(oracle.Ask(trace, rules...)) > 0 {
			return "yes"
		}
		return "no"
	}
}

func and(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

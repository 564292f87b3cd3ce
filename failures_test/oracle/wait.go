package oracle

import (
	"fmt"
	"time"

	"lockkata/failures_test/world"
)

// waiting is a Lock call under way.
type waiting struct {
	call  world.Event
	since time.Duration // since when nobody but the caller has had a right to the lock
}

func deadlock(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	open := map[int]*waiting{}
	died := map[string]time.Duration{} // process → when it died
	installed := map[string]bool{}     // processes that have something in Redis
	for _, e := range trace.Events {
		b.hold(open, e.At)
		b.follow(e)
		if e.Kind == world.Crashed {
			died[e.Process] = e.At
		}
		for _, effect := range e.Effects {
			installed[effect.Owner.Process] = effect.Kind == world.Installed || effect.Kind == world.Leased
		}
		if e.Kind == world.Called && e.Op == world.OpLock {
			open[e.Call] = &waiting{call: e, since: e.At}
		}
		until := lawful(died, installed, trace.Lease)
		for _, w := range open {
			w.since = max(w.since, until)
		}
		ended := e.Kind == world.Returned || e.Kind == world.Blocked
		w := open[e.Call]
		if !ended || w == nil {
			continue
		}
		delete(open, e.Call)
		gaveUp := e.Kind == world.Blocked || !e.Result.Held && e.Result.Claim == world.ClaimUnknown && e.Bound > 0
		if gaveUp && e.At-w.since > Grace(trace) {
			found = append(found, findingAt(e, fmt.Sprintf("%s waits in vain for %v: %s",
				e.Client, (e.At-w.call.At).Truncate(time.Second), holder(b, e.Client))))
		}
	}
	return found
}

// hold notes, for each waiter, that until now somebody else had a right to the
// lock.
func (b *beliefs) hold(open map[int]*waiting, now time.Duration) {
	for _, w := range open {
		if b.other(w.call.Client) != "" {
			w.since = max(w.since, now)
		}
	}
}

// lawful is until when the entry of a dead process may still hold up the others:
// a lease after its death.
func lawful(died map[string]time.Duration, installed map[string]bool, lease time.Duration) time.Duration {
	var until time.Duration
	for process, at := range died {
		if installed[process] {
			until = max(until, at+lease)
		}
	}
	return until
}

func holder(b *beliefs, waiter string) string {
	if b.holds[waiter] > 0 {
		return "nobody but itself holds the lock"
	}
	return "nobody alive holds the lock"
}

package oracle

import (
	"fmt"
	"time"

	"lockkata/failures_test/world"
)

// LongestHold is for how many leases a hold may keep others waiting. Whoever works
// for longer works for ever, as far as the others can tell.
const LongestHold = 6

// endlessHold finds those who gave up waiting for a hold that would not end.
func endlessHold(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	begun := map[string]time.Duration{} // lane → when its present hold began
	for _, e := range trace.Events {
		if entered := b.follow(e); entered != "" && b.holds[entered] == 1 {
			begun[entered] = e.At
		}
		gaveUp := e.Kind == world.Blocked ||
			e.Kind == world.Returned && !e.Result.Held && e.Result.Claim == world.ClaimUnknown && e.Bound > 0
		if e.Op != world.OpLock || !gaveUp {
			continue
		}
		for _, other := range b.others(e.Client) {
			if lasted := e.At - begun[other]; lasted > LongestHold*trace.Lease {
				found = append(found, findingAt(e, fmt.Sprintf("%s waits in vain: %s has held the lock for %v",
					e.Client, other, lasted.Truncate(time.Second))))
				break
			}
		}
	}
	return found
}

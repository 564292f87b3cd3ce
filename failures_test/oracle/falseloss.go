package oracle

import (
	"fmt"

	"lockkata/failures_test/world"
)

// falseLosses finds holders who are told that their hold is lost, although they
// gave it back themselves.
func falseLosses(trace *world.Trace) []Finding {
	var found []Finding
	freed := map[int]bool{} // acquires whose entry was removed by their own client
	for _, e := range trace.Events {
		for _, effect := range e.Effects {
			if effect.Kind == world.Removed && e.Kind == world.Executed && e.Client == effect.Owner.Client {
				freed[effect.Owner.Call] = true
			}
		}
		if e.Kind == world.Lost && freed[e.Call] {
			found = append(found, findingAt(e, fmt.Sprintf(
				"the lock tells %s that its hold is lost, but %s has given it back itself", e.Client, e.Client)))
		}
	}
	return found
}

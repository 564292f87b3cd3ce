package oracle

import (
	"fmt"
	"maps"
	"slices"

	"lockkata/failures_test/world"
)

// boundedWait finds waiters that are overtaken by one of their own process that
// came later. Between processes nothing is promised: Redis serves whoever asks
// first.
func boundedWait(trace *world.Trace) []Finding {
	var found []Finding
	open := map[int]world.Event{} // call → its Called event
	b := newBeliefs()
	for _, e := range trace.Events {
		again := b.holds[e.Client] > 0
		b.follow(e)
		switch e.Kind {
		case world.Called:
			if e.Op == world.OpLock {
				open[e.Call] = e
			}
		case world.Cancelled, world.Blocked:
			delete(open, e.Call)
		case world.Returned:
			call, waited := open[e.Call]
			delete(open, e.Call)
			if !waited || again || !e.Result.Held || e.At == call.At {
				continue
			}
			if first, ok := before(open, call); ok {
				found = append(found, findingAt(e, fmt.Sprintf(
					"%s gets the lock, but %s of the same process has waited longer", e.Client, first.Client)))
			}
		}
	}
	return found
}

// before is a call of the same process that began to wait earlier and still waits.
func before(open map[int]world.Event, call world.Event) (world.Event, bool) {
	for _, id := range slices.Sorted(maps.Keys(open)) {
		if first := open[id]; first.Process == call.Process && first.At < call.At {
			return first, true
		}
	}
	return world.Event{}, false
}

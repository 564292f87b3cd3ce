package oracle

import (
	"fmt"
	"time"

	"lockkata/failures_test/world"
)

// renewalLimit is how often a process may renew its lock in a lease. Every third
// of it is enough; one more is for the edges.
const renewalLimit = 4

// renewalCount finds processes that renew more often than that. Each is told once.
func renewalCount(trace *world.Trace) []Finding {
	var found []Finding
	renewal := renewals(trace)
	times := map[string][]time.Duration{} // process → when it renewed, in the last lease
	told := map[string]bool{}
	for _, e := range trace.Events {
		if e.Kind != world.Executed || !renewal(e) {
			continue
		}
		recent := append(times[e.Process], e.At)
		for e.At-recent[0] >= trace.Lease {
			recent = recent[1:]
		}
		times[e.Process] = recent
		if len(recent) > renewalLimit && !told[e.Process] {
			told[e.Process] = true
			found = append(found, findingAt(e, fmt.Sprintf(
				"%s renews its lock for the %dth time in one lease", e.Client, len(recent))))
		}
	}
	return found
}

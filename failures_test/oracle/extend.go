package oracle

import (
	"fmt"

	"lockkata/failures_test/world"
)

// wrongExtend finds commands that give a new lease to another process's key.
func wrongExtend(trace *world.Trace) []Finding {
	var found []Finding
	for _, e := range trace.Events {
		if e.Kind != world.Executed {
			continue
		}
		for _, effect := range e.Effects {
			if effect.Kind == world.Leased && effect.Owner.Process != e.Process {
				found = append(found, findingAt(e, fmt.Sprintf(
					"%s's %s extends the lock of %s (%s)", e.Client, e.Command[0], effect.Owner.Client, effect.Owner.Label)))
			}
		}
	}
	return found
}

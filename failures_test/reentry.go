package failures

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Failures of re-entry and sharing: one owner comes twice, or two owners share
// one object.
var reentryFailures = []Failure{
	{
		ID: "self-deadlock", Family: Sharing, Stages: "xxxxxo",
		Title:  "a holder calls a function that takes the same lock",
		Story:  "A holds the lock and calls a helper that locks as well. The helper waits for A, and A waits for the helper.",
		Fixed:  "Re-entry: the owner's count goes up instead.",
		Breaks: []oracle.Monitor{oracle.Deadlock},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "shared-object", Family: Sharing, Stages: "xxxxxo",
		Title:  "two goroutines share one lock object",
		Story:  "A and G are goroutines of one process and use one object. A holds the lock; G, which does not, unlocks. The object cannot tell them apart: A's key is gone, and B walks in beside A.",
		Fixed:  "The proof of ownership belongs to the hold, not to the object.",
		Breaks: []oracle.Monitor{oracle.WrongDelete},
		Script: func(w *world.World) {
			a := w.Client("A")
			other, b := a.Goroutine("G"), w.Client("B")
			a.Lock()
			other.Unlock()
			b.TryLock()
		},
	},
}

package failures

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Failures that no lock with a lease can prevent. Only the resource itself can,
// by refusing a write that comes with an old fencing token.
var limitFailures = []Failure{
	{
		ID: "process-pause", Family: Limits, Stages: "iiiiii", Inherent: true,
		Title:  "a holder stands still and wakes up after its lease",
		Story:  "A holds the lock, sees that the order is free, and its process stands still: a garbage collection, a full swap, a sleeping laptop. B takes the lock and creates the order. A wakes up and creates it too.",
		Fixed:  "Nothing in the lock: A cannot know that time passed. The ledger can refuse A's old token.",
		Breaks: []oracle.Monitor{oracle.Damage},
		Given:  []oracle.Monitor{oracle.Exclusion, oracle.LossNoticed},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Check(order)
			a.Freeze()
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
			b.Check(order)
			b.Insert(order)
			a.Thaw()
			a.Insert(order)
		},
	},
	{
		ID: "write-delayed", Family: Limits, Stages: "iiiiii", Inherent: true,
		Title:  "a write is on its way for longer than the lease",
		Story:  "A creates an order, and the write is stuck in the network. A gives up and unlocks, B takes the lock, finds the name free and creates the order. Then A's write arrives.",
		Fixed:  "Nothing in the lock: the write had left already. The ledger can refuse A's old token.",
		Breaks: []oracle.Monitor{oracle.Damage},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Check(order)
			a.Before(world.Insert).Delay(w.Lease + w.Lease/30)
			a.Insert(order)
			w.Sleep(w.Lease / 6)
			a.Unlock()
			b.Lock(world.Within(patience(w)))
			b.Check(order)
			b.Insert(order)
			w.Sleep(w.Lease)
		},
	},
}

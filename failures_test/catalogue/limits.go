package catalogue

import (
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Failures that no lock over one server can prevent. The resource can, by refusing a write that comes
// with an old fencing token. A majority of servers keeps the lock when one server loses it, if there is
// a vote to spare.
var limitFailures = []Failure{
	{
		ID: "process-pause", Family: Limits, FirstScreen: true, PreventedBy: Resource, Cure: "show process-pause-fenced",
		Title:    "a holder pauses beyond its lease",
		Story:    "A holds the lock, sees that the order is free, and its process stands still: a garbage collection, a full swap, a sleeping laptop. B takes the lock and creates the order. A wakes up and creates it too.",
		Fixed:    "Nothing in the lock: A cannot know that time passed. The ledger can refuse A's old token.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		Requires: []Precondition{given("A")},
		Script:   func(w *world.World) { pausesBeyondLease(w) },
	},
	{
		ID: "write-delayed", Family: Limits, PreventedBy: Resource, Cure: "show write-delayed-fenced",
		Title:    "a write is on its way for longer than the lease",
		Story:    "A creates an order, and the write is stuck in the network. A gives up and unlocks, B takes the lock, finds the name free and creates the order. Then A's write arrives.",
		Fixed:    "Nothing in the lock: the write had left already. The ledger can refuse A's old token.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Check(order)
			a.Before(world.Insert).Delay(w.Lease + w.Lease/30)
			a.Insert(order)
			w.Sleep(w.Lease / 6)
			a.Unlock()
			createOrder(w, b)
			w.Sleep(w.Lease)
		},
	}, {
		ID: "evicted-or-flushed", Family: Limits, PreventedBy: Majority, Cure: "--servers",
		Title:    "Redis loses the key while A holds the lock",
		Story:    "Redis is full and evicts A's key; a FLUSHALL, or a restart without persistence, does the same. B finds nothing, takes the lock and creates the order. A has seen that the name is free, and creates it too.",
		Fixed:    "Nothing in a lock over one server: it is as safe as that server's memory. A majority of several servers keeps the lock, if it has a vote to spare. A watchdog learns of the loss at its next renewal, and the ledger can refuse A's old token.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script:   func(w *world.World) { loseKey(w, w.Evict) },
	},
	{
		ID: "failover-async", Family: Limits, FirstScreen: true, PreventedBy: Majority, Cure: "--servers", Replicas: Replicas, Unless: []Feature{Waits},
		Title:    "a failover loses the key",
		Story:    "Redis acknowledges A's lock before its replicas have it: they are two seconds behind. The master dies after one second, R2 takes over without the key, and B takes the lock there. Both create the order.",
		Fixed:    "Nothing in a lock over one server: replication is asynchronous. WAIT makes it rarer: see replica-behind and replica-other. A majority of several servers keeps the lock, if it has a vote to spare; so does a store with consensus. The ledger can refuse A's old token, if tokens do not go back with the data.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script:   func(w *world.World) { loseKey(w, behind(w, w.Lease/15)) },
	},
	{
		ID: "clock-jump", Family: Limits, PreventedBy: Majority, Cure: "--servers",
		Title:    "the clock of Redis jumps ahead",
		Story:    "The server's clock is set ahead, and for Redis A's lease is over at once. B takes the lock and creates the order. On A's clock the lease has hardly begun, and A creates it too.",
		Fixed:    "Nothing in a lock over one server: a lease relies on two clocks that run alike. A majority of several servers keeps the lock when one clock jumps, if it has a vote to spare. The ledger can refuse A's old token.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script: func(w *world.World) {
			loseKey(w, func() { w.JumpServerClock(w.Lease + w.Lease/30) })
		},
		Live: "a real Redis reads the clock of its machine, which a test cannot set",
	},
}

// pausesBeyondLease pauses A before its write until B has created the order, and returns A.
func pausesBeyondLease(w *world.World) (a *world.Client) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	a.Check(order)
	a.Freeze()
	w.Sleep(w.Lease + w.Lease/30)
	createOrder(w, b)
	w.Sleep(w.Lease / 60)
	a.Thaw()
	a.Insert(order)
	return a
}

// behind makes each write take so long to the replicas, and returns a failover to one of them.
func behind(w *world.World, delay time.Duration) (failover func()) {
	for n := range Replicas {
		w.Replica(n + 2).Delay(delay)
	}
	return w.Replica(2).Promote
}

// loseKey lets A see that the order's name is free, removes A's key, and lets B
// create the order before A does. It returns A.
func loseKey(w *world.World, lose func()) (a *world.Client) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	a.Check(order)
	w.Sleep(w.Lease / 30)
	lose()
	if createOrder(w, b).Failed() { // a client without retries learns then that its connection ended with the master
		createOrder(w, b)
	}
	w.Sleep(w.Lease / 60)
	a.Insert(order)
	return a
}

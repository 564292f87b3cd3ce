package catalogue

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Failures of leases that nothing renews, and of a process that holds several locks.
var severalRenewalFailures = []Failure{
	{
		ID: "fixed-beside-renewed", Family: Renewal, Needs: []Feature{Watchdog}, Variant: Beside,
		Title:    "a lock with a long fixed lease is held beside one that is renewed",
		Story:    "A's process holds another lock with a lease of many minutes, which is not renewed. Then A takes this one, and works longer than its lease. One timer looks after both: if it waits for the end of the long lease, this one is never renewed, and B gets the lock.",
		Fixed:    "The timer goes off for whichever lock is due next.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.Lease},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			a.Unlock()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "fixed-renewed", Family: Renewal, Needs: []Feature{Watchdog}, Variant: BesideRenewed, Loss: true,
		Title:    "a lease that is fixed ends just after another one is renewed",
		Story:    "A's process holds another lock, whose lease is renewed. Then A takes this one with a lease of its own choice, and works longer. Its lease ends just after a renewal of the other one. If the renewal takes along whatever is due soon, this lock gets a new and longer lease. A is told that its hold is over, and B waits although no client holds the lock.",
		Fixed:    "A renewal takes along only leases that are to be renewed. A fixed lease ends when A said it would.",
		Breaks:   []oracle.Rule{oracle.Lease, oracle.Deadlock, oracle.Exclusion},
		Requires: []Precondition{given("A")},
		Live:     leaseOfMachine,
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			w.Sleep(w.Lease / 40)
			a.Lock()
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "fixed-lease-taken", Family: Renewal, Needs: []Feature{HoldContext}, Variant: FixedLease, Loss: true,
		Title:    "the key of a fixed lease is deleted, and B takes the lock",
		Story:    "A holds the lock with a lease that nothing renews. Its key is deleted, by an eviction or by an administrator, and B takes the lock. A lock that asks Redis only in order to renew never asks again: A works until its lease would have ended, while B is inside.",
		Fixed:    "The watchdog also looks at fixed leases, every third of a lease, and does not extend them.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease * 2 / 15)
			w.Evict()
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease * 3 / 5)
		},
	},
	{
		ID: "renewals-in-two-slots", Family: Renewal, Needs: []Feature{Watchdog}, Variant: Nested,
		Title:    "two locks in two slots are held for longer than their lease",
		Story:    "A holds two locks and works longer than their lease. The address is that of a Cluster, which has one node or is behind a proxy: Redis refuses a command whose keys are in different slots. If one command renews both locks, it is refused each time, and B gets the lock.",
		Fixed:    "One command for each lock; at the latest when Redis has said CROSSSLOT, and still in time for this renewal.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog},
		Requires: []Precondition{given("A")},
		Script:   twoSlots(func(f *world.Fault) { f.Fail("CROSSSLOT Keys in request don't hash to the same slot") }),
	},
	{
		ID: "renewals-refused-by-proxy", Family: Renewal, Needs: []Feature{Watchdog}, Variant: Nested,
		Title:    "a proxy refuses to renew two locks at once, in words of its own",
		Story:    "A holds two locks and works longer than their lease, behind a proxy that refuses a command whose keys are in different slots. It says so in its own words, not with CROSSSLOT. A lock that knows only the words of Redis sends the same command until the lease is over, and B gets the lock.",
		Fixed:    "After any refusal that is not temporary, each lock is renewed alone, and in time.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog},
		Requires: []Precondition{given("A")},
		Script:   twoSlots(func(f *world.Fault) { f.Fail("ERR eval/evalsha command keys must be in same slot") }),
	},
	{
		ID: "renewals-sent-to-one-server", Family: Renewal, Needs: []Feature{Watchdog}, Variant: Nested,
		Title:    "a proxy sends the renewal of two locks to the server of the first",
		Story:    "A holds two locks and works longer than their lease, behind a proxy in front of several servers. The proxy sends a command to the server of its first key, which does not have the other one, and answers that nobody holds it. If A believes that, it gives up a lock that nobody took. If it goes on all the same, nothing renews that lock, and B gets it.",
		Fixed:    "When one command for several locks does not find one of them, that lock is asked for alone before it counts as lost.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.EarlyLoss},
		Requires: []Precondition{given("A")},
		Script:   twoSlots((*world.Fault).Route),
	},
}

// twoSlots returns the script of a client that holds two locks while something happens to each command for both.
func twoSlots(happens func(*world.Fault)) func(*world.World) {
	return func(w *world.World) {
		name := "{" + w.Lock + "}" // the keys of a lock with several keys are in one slot
		a, b := w.ClientOf("A", name), w.ClientOf("B", name)
		for _, c := range []*world.Client{a, b} {
			happens(c.Before(world.CrossesSlots).Always().IfSent())
		}
		a.Lock()
		w.Sleep(w.Lease + w.Lease/32)
		b.Lock(world.Within(patience(w)))
		a.Unlock()
	}
}

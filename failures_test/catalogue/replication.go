package catalogue

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Replicas is the number of replicas, R2 and R3, of the master R1.
const Replicas = 2

// OfReplicas are the failures of a lock on a master with two replicas.
var OfReplicas = onReplicas([]Failure{
	{
		ID:       "replica-behind",
		Title:    "the replica that takes over lacks the key",
		Story:    "The replicas are two seconds behind. The master gives A the lock and dies before the key has arrived anywhere. R2 takes over without it, and B takes the lock there. With WAIT, A asks how many replicas have the key: none within a second, so A deletes it and does not go in.",
		Fixed:    "WAIT, and an acquire that is undone if too few replicas confirm it.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("B"), takesOver(missingKeyLossText, "A")},
		Script: func(w *world.World) {
			losesMaster(w, behind(w, w.Lease/15))
		},
	},
	{
		ID:       "replica-silent",
		Title:    "no replica confirms the key in time",
		Story:    "Both replicas have lost their link. The master gives A the lock, and WAIT answers 0 when its time is over. The key is on the master, though: A deletes it, and TryLock returns an error. A second later a link is repaired, and B gets the lock. If A left the key there, B would wait for a lease, for a client that does not have the lock.",
		Fixed:    "An attempt that WAIT does not confirm is undone: its key is deleted if it still has its value.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Deadlock, oracle.Truth},
		Needs:    []Feature{Waits},
		Requires: []Precondition{waitsInVain, given("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			w.Replica(2).Cut()
			w.Replica(3).Cut()
			a.TryLock()
			w.Sleep(w.Lease / 30)
			w.Replica(2).Heal()
			b.Lock(world.Within(patience(w)))
			b.Unlock()
		},
	},
	{
		ID:       "replica-other",
		Title:    "another replica takes over than the one that has confirmed",
		Story:    "R2 has lost its link. A takes the lock, and R3 has the key within a moment: WAIT 1 is content. The master dies as R3 cannot be reached, so R2 takes over, which never saw the key. R3 follows it and drops the key. B takes the lock on R2, and both create the order. Sentinel and Redis Cluster prefer the replica that has received most, but only among those that they can reach; Sentinel looks at their priority first.",
		Fixed:    "Not by WAIT for some replicas. WAIT for all of them closes this hole, but then one replica that is down stops all clients. A guard of the resource needs neither.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A B"), takesOver(missingKeyLossText, "A")},
		Script: func(w *world.World) {
			w.Replica(2).Cut()
			losesMaster(w, w.Replica(2).Promote)
		},
	},
	{
		ID:       "replica-revives",
		Title:    "the master dies before its DEL has reached a replica",
		Story:    "A takes the lock, and both replicas have the key. A unlocks: the master deletes it and dies before that has arrived. R2 takes over, and A's key is there again. No client holds the lock, and none will delete the key: B is refused until the lease ends. WAIT after the DEL would tell A of it, but there is nothing to undo.",
		Fixed:    "Only limited: by a short lease. That is one more reason why a lock needs one.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Requires: []Precondition{given("A B"), takesOver(missingKeyCopyText, "A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock(world.Within(patience(w)))
			fail := behind(w, w.Lease/15)
			a.Unlock()
			fail()
			b.TryLock()
			w.Sleep(w.Lease)
			b.TryLock()
		},
	},
})

// onReplicas completes failures of a lock on a master with replicas.
func onReplicas(all []Failure) []Failure {
	for i := range all {
		all[i].Family, all[i].Replicas = Replication, Replicas
	}
	return all
}

// losesMaster lets A ask for the lock, and B create the order on the server that takes over. If A has the
// lock, it creates the order too.
func losesMaster(w *world.World, fail func()) {
	a, b := w.Client("A"), w.Client("B")
	held := a.TryLock().Held()
	if held {
		a.Check(order)
	}
	fail()
	createOrder(w, b)
	if held {
		a.Insert(order)
		a.Unlock()
	}
}

package failures

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// replicas is the number of replicas, R2 and R3, of the master R1.
const replicas = 2

// OfReplicas are the failures of a lock on a master with two replicas.
var OfReplicas = onReplicas([]Failure{
	{
		ID:       "replica-behind",
		Title:    "the replica that takes over lacks the key",
		Story:    "The replicas are two seconds behind. The master gives A the lock and dies before the key has arrived anywhere. R2 takes over without it, and B takes the lock there. With WAIT, A asks how many replicas have the key: none within a second, so A deletes it and does not go in.",
		Fixed:    "WAIT, and an acquire that is undone if too few replicas confirm it.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("B"), takesOver(noneLacking, "A")},
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
		Requires: []Precondition{given("A B"), takesOver(noneLacking, "A")},
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
		Requires: []Precondition{given("A B"), takesOver(noneHaving, "A")},
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
		all[i].Family, all[i].Replicas = Replication, replicas
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

// Failures of the server that a lock can survive.
var serverFailures = []Failure{
	{
		ID: "script-flush", Family: Servers,
		Title:    "Redis forgets the lock's scripts",
		Story:    "A holds the lock, and B has been refused, when SCRIPT FLUSH, or a restart, empties the script cache. EVALSHA answers NOSCRIPT; Unlock has to send the script itself, or the lock stays. B's Lock has to send its script again, too.",
		Fixed:    "EVALSHA with EVAL to fall back on.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Deadlock},
		Needs:    []Feature{Scripts},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.TryLock()
			w.FlushScripts()
			a.Unlock()
			asks(w, b, patience(w))
		},
	},
	{
		ID: "oom", Family: Servers,
		Title:    "Redis is full and refuses the acquire",
		Story:    "Redis has no memory left and answers OOM. Lock has to return that error, or to ask again after a pause. If it says that another client holds the lock, A waits for a holder that does not exist. If it asks again at once, it keeps a full server busy.",
		Fixed:    "An error is returned as an error, never as \"no\". Before it asks again, the lock waits.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Given:    []oracle.Rule{oracle.Deadlock}, // A waits for the server, and for no lock
		Requires: []Precondition{answered("OOM")},
		Script: func(w *world.World) {
			a := w.Client("A")
			w.FillMemory()
			a.TryLock()
			a.Lock(world.Within(patience(w)))
		},
	},
	refusedUnlock(Failure{
		ID:    "unlock-refused",
		Title: "Redis refuses the Unlock for a moment",
		Story: "A holds the lock as Redis fails over, and A's connection still leads to the old master. It is a replica now, and answers A's Unlock with READONLY. A moment later A's commands get through again. If Unlock gives up at such an answer, the key stays for the rest of its lease, and B waits for a holder that has finished.",
		Fixed: "READONLY is temporary, like LOADING and BUSY: Unlock asks again, for a part of the lease.",
	}, "READONLY You can't write against a read only replica."),
	refusedUnlock(Failure{
		ID:    "unlock-moved",
		Title: "two nodes of a Cluster send the Unlock to each other for a moment",
		Story: "A holds the lock as the slot of its key is given to another node. Until that node knows that the slot is its own, each of the two sends A's Unlock to the other one with MOVED. go-redis follows three times within a millisecond, and gives up. If Unlock gives up too, the key stays for the rest of its lease, and B waits for a holder that has finished.",
		Fixed: "MOVED is temporary, like TRYAGAIN and CLUSTERDOWN: Unlock asks again, for a part of the lease.",
	}, "MOVED 16287 127.0.0.1:7001"),
}

// refusedUnlock completes a failure in which Redis refuses the first commands of an Unlock with
// these words.
func refusedUnlock(f Failure, words string) Failure {
	f.Family = Servers
	f.Breaks = []oracle.Rule{oracle.Leak}
	f.Given = []oracle.Rule{oracle.Deadlock} // B waits for the key that stays
	f.Requires = []Precondition{given("A")}
	f.Script = func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		unlocking := world.Of(trace.OpUnlock, world.Write)
		a.Before(unlocking).Fail(words)
		for range 4 {
			a.Before(unlocking).IfSent().Fail(words)
		}
		a.Unlock()
		asks(w, b, patience(w))
	}
	return f
}

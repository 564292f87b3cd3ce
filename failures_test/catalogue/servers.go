package catalogue

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

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

package catalogue

import (
	"slices"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// twinStories are the stories of the limits with a fenced ledger.
var twinStories = map[string]string{
	"process-pause":      "A stands still beyond its lease, as before, and B creates the order with a higher token. A wakes up and writes with its old one: the ledger has seen a newer, and refuses.",
	"write-delayed":      "A's write is stuck in the network, as before. When it arrives, the ledger has seen B's higher token: the write is refused, although it could not be called back.",
	"evicted-or-flushed": "Redis loses A's key, as before, and B's token is higher than A's. Both are inside the lock, and only one of them can write.",
	"failover-async":     "The replica never saw A's lock, nor its token, as before. B's token is still higher, since it is taken from the clock of the server: A's write is refused.",
	"clock-jump":         "The clock of Redis jumps and ends A's lease, as before. B's token is higher, as every later one: A's write is refused.",
}

// twins returns the failures that no lock over one server can prevent, with a ledger that refuses old fencing tokens.
func twins() []Failure {
	all := slices.Clone(limitFailures)
	for i, f := range all {
		f.ID, f.GivenBy, f.Family = f.ID+"-fenced", f.ID, Fences
		f.Title = "fencing token: " + f.Title
		f.Story = twinStories[limitFailures[i].ID]
		f.Fixed = "A token that rises with each hold, and a ledger that refuses a lower one."
		f.Guard, f.PreventedBy, f.Cure, f.Needs = world.TokenGuard, "", "", []Feature{Fencing}
		f.FirstScreen = f.ID == "process-pause-fenced"
		all[i] = f
	}
	return all
}

// Failures of the fencing tokens themselves.
var tokenFailures = []Failure{
	{
		ID: "token-after-flush", Family: Fences, Guard: world.TokenGuard, Needs: []Feature{Fencing},
		Title:    "the counter of tokens is flushed away",
		Story:    "A holds the lock for the third time in a second. FLUSHALL removes the lock and, with it, the counter of tokens. B takes the lock: if the counter starts again from 1, or the token is the clock in seconds, B's token is lower than A's, and the ledger treats A's late write as the newer one.",
		Fixed:    "The token is at least the server's clock in microseconds, so it rises even after Redis has lost its data.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A A A"), taken("A", serverDid)},
		Script:   func(w *world.World) { loseToken(w, 0, w.FlushAll) },
	},
	{
		ID: "token-after-failover", Family: Fences, Replicas: Replicas, Guard: world.TokenGuard, Needs: []Feature{Fencing}, Unless: []Feature{Waits},
		Title:    "the replica has an old counter of tokens",
		Story:    "A holds the lock for the third time when the master dies. The replica that takes over has seen the first hold only: its counter is two behind. B must still get a higher token than A, or A's late write wins.",
		Fixed:    "The token is at least the server's clock in microseconds: that needs only clocks that disagree by less than a failover takes.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "failover-async",
		Requires: []Precondition{given("A A A"), taken("A", serverDid)},
		Script:   func(w *world.World) { loseToken(w, w.Lease/3, behind(w, w.Lease/5)) },
	},
	{
		ID: "token-after-clock-back", Family: Fences, Guard: world.TokenGuard, Needs: []Feature{Fencing},
		Title:    "the clock of Redis is set back",
		Story:    "A has held the lock for minutes when the server's clock is set back and Redis loses A's key. B takes the lock. The clock now shows an earlier time than it showed for A: a token that comes from the clock alone, or from a counter that has been lost, is lower than A's, and the ledger treats A's late write as the newer one. C comes after B. If C's token is only as high as B's, the ledger refuses C, who holds the lock.",
		Fixed:    "The token is also higher than the last one, which Redis keeps for much longer than a lease.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			w.Sleep(5 * w.Lease)
			w.Evict()
			w.JumpServerClock(-20 * w.Lease)
			createOrder(w, b)
			a.Insert(order)
			b.Unlock()
			if c.Lock(world.Within(patience(w))).Held() {
				c.Insert("coffee")
			}
		},
		Live: "a real Redis reads the clock of its machine, which a test cannot set",
	},
	{
		ID: "token-of-reentry", Family: Fences, Guard: world.TokenGuard, Needs: []Feature{Fencing, Reentry},
		Title:    "a holder's helper writes, and then the holder",
		Story:    "A takes the lock and calls a helper that takes it again, writes, and unlocks. Then A writes. If the helper's hold has a higher token than A's own, the ledger refuses A, who is the only holder.",
		Fixed:    "All holds of an owner have the token of the first one.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Lock(world.Within(patience(w)))
			a.Insert(order)
			a.Unlock()
			a.Insert("coffee")
			a.Unlock()
		},
	},
	{
		ID: "token-before-grant", Family: Fences, Guard: world.TokenGuard, Needs: []Feature{Fencing},
		Title:    "a process stands still just before it takes the lock",
		Story:    "A locks for the second time. Just before it takes the lock, its process stands still; what it sent before has arrived. B takes the lock, writes and unlocks. A goes on and holds the lock after B. A token that A has fetched before, or read from its own clock, is lower than B's: the ledger refuses A, who holds the lock.",
		Fixed:    "The command that takes the lock makes the token as well.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A B A"), overtakes("B", "A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Unlock()
			takes := nthTakes(w.Trace(), "A")
			w.Sleep(w.Lease / 30)
			a.Before(world.Nth(takes, world.Of(trace.OpLock, world.Any))).Freeze()
			lock := a.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 30)
			if b.Lock(world.Within(patience(w))).Held() {
				b.Insert(order)
				b.Unlock()
			}
			w.Sleep(w.Lease / 60) // so that a clock shows another time
			a.Thaw()
			if lock.Wait().Held() {
				a.Insert("coffee")
			}
		},
	},
	{
		ID: "token-after-grant", Family: Fences, Guard: world.TokenGuard, Needs: []Feature{Fencing},
		Title:    "a process stands still just after Redis has granted it the lock",
		Story:    "Redis grants A the lock, and A's process stands still before the next command that its Lock sends; a Lock that needs no further command has returned. The lease ends, and B takes the lock and creates the order. A goes on and creates it too. A token that A fetches only now is higher than B's: the ledger treats A's late write as the newer one.",
		Fixed:    "The command that takes the lock makes the token as well.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "process-pause",
		Requires: []Precondition{given("B"), ends("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(world.Of(trace.OpLock, a.Has)).IfSent().Freeze()
			lock := a.Lock(world.Within(2 * w.Lease))
			a.Freeze()
			w.Sleep(w.Lease + w.Lease/30)
			createOrder(w, b)
			w.Sleep(w.Lease / 60)
			a.Thaw()
			if lock.Wait().Held() {
				a.Insert(order)
			}
		},
	},
}

// nthTakes returns the number of the command of the client's Lock that took the lock, counted from 1,
// or 0.
func nthTakes(tr *trace.Trace, client string) (n int) {
	for _, e := range tr.Events {
		if e.Kind == trace.Executed && e.Client == client && e.Op == trace.OpLock {
			if n++; e.Effects.Include(trace.Installed) {
				return n
			}
		}
	}
	return 0
}

// loseToken gives A its third token, with a pause after the first one, loses the data of Redis, and lets
// B create the order before A does. The ledger must not see A's token before: it would refuse the
// lower token of B, which holds the lock.
func loseToken(w *world.World, pause time.Duration, lose func()) {
	a, b := w.Client("A"), w.Client("B")
	for range 2 {
		a.Lock(world.Within(patience(w)))
		a.Unlock()
		w.Sleep(pause)
		pause = 0
	}
	w.Sleep(w.Lease / 75) // A's third token has six digits of microseconds, and that of B has one
	a.Lock(world.Within(patience(w)))
	w.Sleep(w.Lease / 50)
	lose()
	createOrder(w, b)
	a.Insert(order)
}

package catalogue

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures of re-entry and sharing: one owner comes twice, or two owners share
// one object.
var sharingFailures = []Failure{
	{
		ID: "self-deadlock", Family: Sharing, FirstScreen: true,
		Title:    "a holder takes the same lock again",
		Story:    "A holds the lock and calls a helper that locks as well. The helper waits for A, and A waits for the helper.",
		Fixed:    "Re-entry: the owner's count goes up instead.",
		Breaks:   []oracle.Rule{oracle.Deadlock},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "shared-object", Family: Sharing,
		Title:    "two goroutines share one lock object",
		Story:    "A and G are goroutines of one process and use one object. A holds the lock; G, which does not, unlocks. The object cannot tell them apart: A's key is gone, and B gets the lock while A is at work. Later A has the lock again, Redis evicts its key, and G takes the lock. A's Unlock must not free what G holds.",
		Fixed:    "The proof of ownership belongs to the hold, not to the object.",
		Breaks:   []oracle.Rule{oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			other, b := a.Goroutine("G"), w.Client("B")
			a.Lock()
			other.Unlock()
			b.TryLock()
			a.Unlock()
			a.Lock(world.Within(patience(w)))
			w.Evict()
			other.Lock(world.Within(patience(w)))
			a.Unlock()
			b.TryLock()
		},
	},
	{
		ID: "delete-sibling", Family: Sharing,
		Title:    "a late Unlock meets the lock of the next goroutine",
		Story:    "A and G are goroutines of one process and use one object. Redis evicts A's key, and G takes the lock. A has done its work and unlocks, but by now the lock is G's. If the object knows only its newest hold, A's Unlock deletes G's key. If one watchdog renews for all, A's loss ends G's renewals, and G works longer than its lease.",
		Fixed:    "Each hold has its own value and its own renewals, and its Unlock frees no other.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.Watchdog},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A G"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			g := a.Goroutine("G")
			a.Lock()
			w.Sleep(w.Lease * 2 / 15)
			w.Evict()
			g.Lock() // with a context that does not end
			w.Sleep(w.Lease / 2)
			a.Unlock()
			w.Sleep(w.Lease)
			b.TryLock()
			g.Unlock()
		},
	},
	{
		ID: "two-objects", Family: Sharing,
		Title:    "a late Unlock meets the lock of another object of the process",
		Story:    "A and G are goroutines of one process, each with a lock object of its own. Redis evicts A's key, and G takes the lock. A unlocks late, and C asks. If the process keeps its values in a map by the lock's name, G's value has replaced A's: A's Unlock deletes G's key and returns nil, and C gets in.",
		Fixed:    "Keep a value in the hold or in the object, not in a map by the lock's name.",
		Breaks:   []oracle.Rule{oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A G"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, c := w.Client("A"), w.Client("C")
			g := a.Sibling("G")
			a.Lock()
			w.Sleep(w.Lease * 2 / 15)
			w.Evict()
			g.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 2)
			a.Unlock()
			c.TryLock()
			g.Unlock()
		},
	},
	{
		ID: "inner-unlock-frees", Family: Sharing,
		Title:    "a holder's helper takes the lock again and unlocks",
		Story:    "A holds the lock and calls a helper that takes and frees it again. The helper's Unlock must give back the helper's hold and no more: A is still at work.",
		Fixed:    "A count in Redis: each Lock adds one, each Unlock takes one away, and the last one frees.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.HoldCount},
		Needs:    []Feature{Reentry},
		Requires: []Precondition{given("A A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Lock(world.Within(patience(w)))
			a.HoldCount()
			b.HoldCount()           // B holds nothing
			if a.TryLock().Held() { // another helper only tries
				a.Unlock()
			}
			a.Unlock()
			a.HoldCount()
			a.Before(world.Of(trace.OpCount, world.Any)).IfSent().Fail("LOADING Redis is loading the dataset in memory")
			a.HoldCount()
			b.TryLock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "inner-lock-fails", Family: Sharing,
		Title:    "one inner acquire times out, and another one is refused",
		Story:    "A holds the lock and takes it again. The deadline passes before the reply is there, and the lock undoes what it may have got. If it frees the whole lock, A's outer hold is gone, and B gets the lock while A is at work. Another inner acquire is refused by Redis, which is full. If the lock keeps a mutex of its own locked after that, the outer Unlock never returns.",
		Fixed:    "Undo one count, not the whole lock.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.LossHidden, oracle.HoldCount},
		Needs:    []Feature{Reentry},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.After(func(c world.Command) bool { return c.Effects.Include(trace.Counted) }).Delay(w.Lease / 30)
			if a.Lock(world.Within(w.Lease / 60)).Held() {
				a.Unlock()
			}
			w.Sleep(w.Lease / 20)
			a.Before(world.Of(trace.OpLock, world.Write)).IfSent().Fail("OOM command not allowed when used memory > 'maxmemory'.")
			if a.Lock(world.Within(w.Lease / 60)).Held() { // it counts in its own memory
				a.Unlock()
			}
			a.HoldCount()
			b.TryLock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "unlock-behind-reentry", Family: Sharing, Needs: []Feature{Reentry},
		Title:    "an inner acquire hangs, and the holder unlocks",
		Story:    "A holds the lock and calls a helper that takes it again. That command is stuck in the network, and A gives up on the helper and unlocks. If Unlock waits for the helper, or gives up and leaves the key, B waits for a holder who has finished.",
		Fixed:    "The wait for the helper has a limit, and the last Unlock frees the lock all the same.",
		Breaks:   []oracle.Rule{oracle.Deadlock, oracle.Leak},
		Client:   world.Settings{ReadTimeout: -1},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Before(world.Of(trace.OpLock, world.Write)).Delay(3 * w.Lease)
			a.StartLock()
			w.Sleep(w.Lease / 8)
			unlock := a.StartUnlock()
			b.Lock(world.Within(w.Lease * 5 / 8))
			unlock.Wait()
		},
	},
	{
		ID: "try-behind-reentry", Family: Sharing, Needs: []Feature{Reentry},
		Title:    "an inner acquire hangs, and another helper calls TryLock",
		Story:    "A holds the lock and calls two helpers that take it again. The command of the first one is stuck in the network. The second one only tries: it has something else to do if it cannot have the lock now. If it waits behind the first one, it hangs for as long as the network does.",
		Fixed:    "The second helper waits for the first only as long as its own context allows. A TryLock does not wait.",
		Breaks:   []oracle.Rule{oracle.Waiting},
		Client:   world.Settings{ReadTimeout: -1},
		Requires: []Precondition{given("A")},
		Live:     leaseOfMachine,
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Before(world.Of(trace.OpLock, world.Write)).Delay(3 * w.Lease)
			a.StartLock()
			w.Sleep(w.Lease / 8)
			a.TryLock()
		},
	},
	{
		ID: "reentries-at-once", Family: Sharing, Needs: []Feature{Reentry},
		Title:    "two helpers of a holder take the lock again at the same moment",
		Story:    "A holds the lock and has two helpers, each in its own goroutine. Both take the lock again: the command of the first one is on its way as the second one asks. If both read a count of one and write two, the lock is free after two Unlocks, and B gets it while A is still at work.",
		Fixed:    "One re-entry waits until the other has changed the count; or the command adds one to the count in Redis.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.HoldCount, oracle.Truth, oracle.Deadlock, oracle.Leak},
		Requires: []Precondition{given("A A"), asksTwice("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Before(world.Of(trace.OpLock, world.Write)).IfSent().Delay(w.Lease / 60)
			first := a.StartLock(world.Within(w.Lease / 2))
			w.Sleep(w.Lease / 240)
			second := a.StartLock(world.Within(w.Lease / 2))
			first.Wait()
			second.Wait()
			for _, helper := range []*world.Call{first, second} {
				if helper.Held() {
					a.Unlock()
				}
			}
			a.HoldCount()
			b.TryLock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "reentry-after-loss", Family: Sharing, Variant: FixedLease,
		Title:    "a client re-enters a lock that it has lost",
		Story:    "A's lease ends, and B takes the lock. A calls a helper that locks. A counter in A's own memory still says one, so the helper gets the lock without asking Redis, while B holds it.",
		Fixed:    "Redis decides: re-entry asks whether the owner is still there.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "work-outlives-ttl",
		Needs:    []Feature{Reentry},
		Requires: []Precondition{given("A B"), ends("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
			a.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "reentry-near-the-end", Family: Sharing, Variant: FixedLease, Needs: []Feature{Reentry, HoldContext}, Loss: true,
		Title:    "a lease that nothing renews ends during a helper's work",
		Story:    "A takes the lock with a lease that nothing renews, and shortly before its end calls a helper that takes it again. The lease is over, and B asks. A lock that counts the lease anew for the helper, or has no word for the helper's own hold, tells A too late, while B is inside, and the helper goes on.",
		Fixed:    "All holds of an owner share one lease, and each of them is told of its end.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease * 4 / 5)
			inner := a.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 4)
			createIfFree(w, b)
			if inner.GoesOn() {
				a.Insert(order)
			}
		},
	},
	{
		ID: "retry-count-two", Family: Sharing,
		Title:  "the reply to the acquire is lost, and go-redis sends it again",
		Story:  "The reply to A's acquire is lost, and go-redis, which retries three times by default, sends it again. A script that adds one now says two. A unlocks once, and the lock stays.",
		Fixed:  "Lock commands are sent once; or scripts set the count, they do not add to it.",
		Breaks: []oracle.Rule{oracle.HoldCount, oracle.Leak, oracle.Deadlock},
		Needs:  []Feature{Reentry},
		Client: world.DefaultRetries,
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Drop()
			if a.Lock(world.Within(patience(w))).Held() { // an error is the story of grant-reply-lost
				a.HoldCount()
				a.Unlock()
				b.Lock(world.Within(patience(w)))
			}
		},
	},
	{
		ID: "hold-released-twice", Family: Sharing,
		Title:    "a client unlocks once more than it locked",
		Story:    "A takes the lock twice and unlocks three times, as with one defer too many. The third Unlock has nothing to give back. It must return an error, and must not affect B, who locks next.",
		Fixed:    "Each hold is released once; a release too many returns ErrNotHeld.",
		Breaks:   []oracle.Rule{oracle.Truth, oracle.WrongDelete},
		Needs:    []Feature{Reentry},
		Requires: []Precondition{given("A A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			a.Lock(world.Within(patience(w)))
			a.Unlock()
			a.Unlock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
			a.Unlock()
			c.TryLock()
		},
	},
	{
		ID: "second-goroutine-reenters", Family: Sharing,
		Title:    "another goroutine of the holder's process asks for the lock",
		Story:    "A and G are goroutines of one process, each with a request of its own. A holds the lock. G asks for it, and must wait: goroutines of one process are not each other's helpers.",
		Fixed:    "The owner is the hold, not the process and not the lock object.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Truth},
		Needs:    []Feature{Reentry},
		Requires: []Precondition{given("A"), waits("G")},
		Script: func(w *world.World) {
			a := w.Client("A")
			g := a.Goroutine("G")
			a.Lock()
			g.TryLock()
			wait := g.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 4)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "two-names-nested", Family: Sharing, Variant: Nested,
		Title:    "a client holds two locks, one inside the other",
		Story:    "A takes another lock and then this one, and releases them in turn. They have nothing in common but their process. A lock that remembers its holds in a table of that process may take the second name for a re-entry of the first: Unlock counts down, returns nil, and leaves the key. B waits for a holder who has finished.",
		Fixed:    "A process remembers a hold under the whole name, not under a hash of it or under the goroutine alone.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Truth, oracle.Deadlock},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Unlock()
			if asks(w, b, patience(w)).Held() {
				b.Unlock()
			}
		},
	},
	{
		ID: "two-at-once", Family: Sharing,
		Title:  "two goroutines ask for a free lock at the same moment",
		Story:  "A and G are goroutines of one process, and the lock is free. A's command is on its way to Redis as G asks too. One of them gets the lock and works, the other one waits and gets it next, with a lease of its own, and each gives back its own hold.",
		Fixed:  "What an attempt leaves in the process belongs to that attempt alone: its value, its hold, its place in the queue.",
		Breaks: []oracle.Rule{oracle.Exclusion, oracle.WrongDelete, oracle.LostWakeUp, oracle.Deadlock, oracle.Leak, oracle.Truth},
		// Either command may reach Redis first.
		Given:    []oracle.Rule{oracle.BoundedWait},
		Requires: []Precondition{asksWhile("G", "A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			g, b := a.Goroutine("G"), w.Client("B")
			a.Before(world.Of(trace.OpLock, attemptOf("A"))).Delay(w.Lease / 60)
			first := a.StartLock(world.Within(w.Lease / 2))
			w.Sleep(w.Lease / 240)
			second := g.StartLock(world.Within(w.Lease / 2))
			w.Sleep(w.Lease / 6)
			b.TryLock()
			holder, next, wait := a, g, second
			if second.Held() { // it overtook A's command
				holder, next, wait = g, a, first
			}
			holder.Unlock()
			if wait.Wait().Held() {
				w.Sleep(w.Lease * 9 / 10)
				b.TryLock()
			}
			next.Unlock()
			b.Lock(world.Within(patience(w)))
		},
	},
}

package catalogue

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures of the watchdog at the end of a hold: it renews for too long, or keeps
// Unlock from ending.
var releaseFailures = []Failure{
	{
		ID: "unlock-at-once", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "Unlock comes before the watchdog has begun",
		Story:    "A's work is done as soon as it has the lock, and A unlocks at once. A watchdog that registers a moment later is never stopped: it renews a lock that no client holds.",
		Fixed:    "The watchdog runs before Lock returns.",
		Breaks:   []oracle.Rule{oracle.Watchdog, oracle.Leak},
		Requires: []Precondition{given("A A"), renewed("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Sleep(w.Lease / 2) // the trace has a renewal
			a.Unlock()
			a.Lock(world.Within(patience(w)))
			a.Unlock()
			w.Sleep(2 * w.Lease)
		},
	},
	{
		ID: "unlock-error-dog-lives", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "Redis refuses the unlock, and the holder gives up",
		Story:    "Redis refuses A's unlock with an error, and A gives up. If the watchdog is stopped only after a successful delete, it renews the key of a finished owner forever, and B never gets the lock.",
		Fixed:    "Stop the watchdog first, then delete: whatever the delete returns, the lease ends.",
		Breaks:   []oracle.Rule{oracle.Deadlock, oracle.Watchdog},
		Given:    []oracle.Rule{oracle.Leak}, // the refused unlock leaves the key for the rest of its lease
		GivenBy:  "unlock-refused",
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(world.Of(trace.OpUnlock, world.Write)).Fail("READONLY You can't write against a read only replica.")
			a.Lock()
			w.Sleep(w.Lease * 7 / 16)
			a.Unlock()
			asks(w, b, w.Lease+patience(w))
		},
	},
	{
		ID: "dog-unlock-race", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "a renewal is on its way while the holder unlocks",
		Story:    "A's renewal is slow, and A unlocks meanwhile. If Unlock does not wait for the watchdog, the key is deleted first, the renewal finds nothing, and A is told that it lost a lock which it gave back itself. Stage 5 waits; stage 6 no longer cares what a renewal of that hold finds.",
		Fixed:    "Unlock stops the watchdog and waits until it has ended, then it deletes. If each hold has its own owner value, it need not wait: it forgets the hold first.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Requires: []Precondition{given("A"), unlocksDuring("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			late := a.Before(w.Renews)
			late.Delay(w.Lease / 15)
			a.Lock()
			w.SleepUntil(late, w.Lease, w.Lease/30)
			a.Unlock()
			w.Sleep(w.Lease / 2)
		},
	},
	{
		ID: "unlock-always-refused", Family: Renewal,
		Title:    "Redis refuses each Unlock",
		Story:    "Redis is read-only, as a master that has become a replica, and stays so. A unlocks. An Unlock may ask again for a while; but if it asks until Redis accepts it, each caller that defers an Unlock hangs. Later A takes the lock again, and what its Unlock sends is stuck in the network. If Unlock returns nil, A believes that the lock is free.",
		Fixed:    "Ask again for a part of the lease, then return the error: the key ends with its lease.",
		Breaks:   []oracle.Rule{oracle.Waiting, oracle.Truth},
		Given:    []oracle.Rule{oracle.Leak, oracle.Watchdog, oracle.HoldCount},
		GivenBy:  "unlock-refused",
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, isReadOnly := w.Client("A"), true
			unlocking := world.Of(trace.OpUnlock, world.Write)
			a.Before(func(c world.Command) bool { return isReadOnly && unlocking(c) }).Always().
				Fail("READONLY You can't write against a read only replica.")
			a.Lock()
			a.Unlock()
			isReadOnly = false
			w.Sleep(w.Lease + w.Lease/30)
			a.Lock(world.Within(patience(w)))
			a.Before(world.Of(trace.OpUnlock, world.Any)).Always().Delay(w.Lease / 2)
			a.Unlock()
			w.Sleep(w.Lease / 15)
			w.Client("B").StartRun("EXISTS", w.Trace().LockKey()).Wait()
		},
	},
	{
		ID: "unlock-while-renewal-hangs", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "a renewal hangs, and the holder unlocks",
		Story:    "A's renewal is stuck in the network, and go-redis has no read timeout. A unlocks. Unlock waits for the watchdog, as it should; but if the renewal may take forever, so does Unlock, and B waits for a holder that has finished.",
		Fixed:    "Each renewal has a deadline within the lease, so Unlock has one too.",
		Breaks:   []oracle.Rule{oracle.Deadlock},
		Client:   world.Settings{ReadTimeout: -1},
		Requires: []Precondition{given("A"), unlocksDuring("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			late := a.Before(w.Renews)
			late.Delay(3 * w.Lease)
			a.Lock()
			w.SleepUntil(late, w.Lease, w.Lease/24)
			unlock := a.StartUnlock()
			b.Lock(world.Within(w.Lease/3 + patience(w)/2))
			unlock.Wait()
		},
	},
	{
		ID: "crash-while-holding", Family: Renewal,
		Title:    "a holder dies at work",
		Story:    "A's process is killed while A holds the lock. Unlock is never called, and the lease is no longer renewed: the watchdog ends with its process. B gets the lock when the lease is over.",
		Fixed:    "A lease: a key that is not renewed expires by itself.",
		Breaks:   []oracle.Rule{oracle.Deadlock, oracle.Leak},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease * 7 / 16)
			a.Crash()
			asks(w, b, w.Lease+patience(w))
		},
	},
	{
		ID: "renewed-for-ever", Family: Renewal, Variant: Limited, Loss: true,
		Title:  "the work never ends",
		Story:  "A's business hangs in a loop while A holds the lock. A fixed lease ends whatever A does. A watchdog cannot tell long work from stuck work: it renews forever, and B never gets the lock.",
		Fixed:  "A limit for the hold: then the renewals stop, and the holder is told.",
		Breaks: []oracle.Rule{oracle.EndlessHold},
		// Without a watchdog the lease ends during the work: that is work-outlives-ttl. A limit
		// ends a hold while its key is there.
		Given:    []oracle.Rule{oracle.Exclusion, oracle.EarlyLoss},
		GivenBy:  "work-outlives-ttl",
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(oracle.LongestHold*w.Lease + w.Lease/32)
			b.Lock(world.Within(w.Lease + patience(w)))
		},
	},
	{
		ID: "reentered-for-ever", Family: Renewal, Variant: Limited, Loss: true, Needs: []Feature{Reentry},
		Title:    "work that never ends takes its lock again and again",
		Story:    "A's business hangs in a loop, and each turn of the loop calls a helper that takes the lock and gives it back. A limit for the hold that starts again with each re-entry limits nothing, and B never gets the lock.",
		Fixed:    "The limit counts from the first hold: a re-entry does not restart it.",
		Breaks:   []oracle.Rule{oracle.EndlessHold},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.EarlyLoss},
		GivenBy:  "work-outlives-ttl",
		Requires: []Precondition{given("A A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			for range oracle.LongestHold {
				w.Sleep(w.Lease + w.Lease/60)
				if a.TryLock().Held() {
					a.Unlock()
				}
			}
			b.Lock(world.Within(w.Lease + patience(w)))
		},
	},
	{
		ID: "hold-dropped", Family: Renewal, Variant: Limited, Loss: true,
		Title:  "the holder forgets to unlock",
		Story:  "A takes the lock and returns early, without Unlock. Its process lives on, and so does the watchdog. Later G, another goroutine of that process, wants the lock, and waits for a hold that will never be released.",
		Fixed:  "A limit for the hold, and defer Unlock in the line after Lock.",
		Breaks: []oracle.Rule{oracle.EndlessHold},
		// The rules take A for the holder until it unlocks.
		Given:    []oracle.Rule{oracle.Exclusion, oracle.EarlyLoss},
		GivenBy:  "work-outlives-ttl",
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			g := a.Goroutine("G")
			a.Lock()
			w.Sleep(oracle.LongestHold*w.Lease + w.Lease/32)
			g.Lock(world.Within(w.Lease + patience(w)))
		},
	},
}

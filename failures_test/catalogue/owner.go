package catalogue

import (
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures of ownership: a client takes or frees another client's lock.
var ownerFailures = []Failure{
	{
		ID: "free-lock-given", Family: Owner, Basic: true,
		Title:    "two clients take the lock, one after the other",
		Story:    "The lock is free. A takes it and gives it back, and so does B. Each Lock leaves a key in Redis, and each Unlock removes it.",
		Fixed:    "Lock returns nil, and TryLock true, once the key in Redis is yours. Unlock finds that key again, deletes it and returns nil.",
		Breaks:   []oracle.Rule{oracle.Truth, oracle.NeedlessError, oracle.Deadlock},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			for _, name := range []string{"A", "B"} {
				c := w.Client(name)
				c.Lock(world.Within(patience(w)))
				c.Unlock(world.Within(patience(w)))
			}
		},
	},
	{
		ID: "second-client", Family: Owner, Basic: true,
		Title:    "a second client tries while the first one holds",
		Story:    "A holds the lock and works for half of its lease. B tries and must be refused, and waits in vain for as long as its context allows. This is the first thing a lock is for; every stage can do it.",
		Fixed:    "NX: Redis creates the key only if it does not exist.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Truth, oracle.NeedlessError, oracle.Waiting},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease / 2)
			b.TryLock()
			b.Lock(world.Within(patience(w) / 15)) // no multiple of a poll
			a.Unlock()
			if b.Lock(world.Within(patience(w))).Held() {
				b.Unlock()
			}
		},
	},
	{
		ID: "check-then-set", Family: Owner,
		Title:    "two clients find the lock free at the same moment",
		Story:    "A has seen that the lock is free, or is about to ask, and stands still. B takes the lock. When A resumes, it must not act on its stale answer. Then B dies, and when its lease is over C and D ask at the same moment: the one that has seen the end of the lease must not take the lock from the other one, which has it by now. Being second is a normal \"no\", not an error.",
		Fixed:    "Asking and taking are one command: SETNX, or SET with NX.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.WrongDelete, oracle.Waiting},
		Requires: []Precondition{given("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(world.Of(trace.OpTryLock, world.Write)).Freeze()
			try := a.TryLock()
			b.Lock(world.Within(patience(w)))
			a.Thaw()
			try.Wait()
			b.Crash()
			w.Sleep(w.Lease + w.Lease/32)
			c, d := w.Client("C"), w.Client("D")
			c.Before(world.Nth(2, world.Of(trace.OpTryLock, world.Write))).IfSent().Freeze()
			late := c.TryLock()
			d.TryLock()
			c.Thaw()
			late.Wait()
		},
	},
	{
		ID: "delete-foreign", Family: Owner, FirstScreen: true, Variant: FixedLease,
		Title:    "a client unlocks after the next Lock",
		Story:    "A works longer than its lease, and B takes the lock. Then A unlocks: DEL removes B's key. C finds no key and walks in beside B.",
		Fixed:    "The owner's value in the key, compared before the delete.",
		Breaks:   []oracle.Rule{oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "work-outlives-ttl",
		Requires: []Precondition{given("A B"), ends("A")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/6) // A works longer than its lease
			b.Lock(world.Within(patience(w)))
			a.Unlock()
			c.TryLock()
		},
	},
	{
		ID: "check-then-delete", Family: Owner, FirstScreen: true,
		Title:    "the lock changes hands between GET and DEL",
		Story:    "A unlocks in time: GET shows A's own value. Before DEL leaves, A's process stands still until the lease is over and B has the lock. Then DEL removes B's key, and C gets the lock while B is at work.",
		Fixed:    "A Lua script: Redis compares and deletes in one step.",
		Breaks:   []oracle.Rule{oracle.WrongDelete},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			a.Before(world.Of(trace.OpUnlock, world.Write)).Freeze()
			unlock := a.Unlock()
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
			a.Thaw()
			unlock.Wait()
			c.TryLock()
		},
	},
	{
		ID: "unlock-stopped-anywhere", Family: Owner,
		Title:    "the lock changes hands before each command of an Unlock",
		Story:    "A unlocks in time, and its process stands still before the first command of the Unlock, until the lease is over and B has the lock. Then the same before the second command, and so on. An Unlock that looks first and only then watches the key, or compares in one step and deletes in the next, removes B's key, and C gets the lock while B is at work.",
		Fixed:    "Nothing may lie between the look and the delete: one script, or a WATCH before the look.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.LossHidden, oracle.Truth},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			for n := 1; n <= mostCommands; n++ {
				a.Lock(world.Within(patience(w)))
				b.StartRun("SCRIPT", "FLUSH").Wait() // so that an Unlock with a script has to do without
				a.Before(world.Nth(n, world.Of(trace.OpUnlock, world.Any))).IfSent().Freeze()
				unlock := a.Unlock()
				if unlock.Over() {
					return // it sends fewer commands
				}
				w.Sleep(w.Lease + w.Lease/30)
				b.Lock(world.Within(patience(w)))
				a.Thaw()
				unlock.Wait()
				c.TryLock()
				b.Unlock()
			}
		},
	},
	{
		ID: "unlock-finds-nothing", Family: Owner,
		Title:    "A's Unlock finds no key",
		Story:    "Redis refuses A's Unlock, and evicts the key. A unlocks again: a refusal is an answer, so this Unlock knows that the lock was lost, and must not return nil. Later A's key is evicted just before an Unlock. The first command finds no key, A's process stands still, and B takes the lock. An Unlock that deletes all the same, to make sure, removes B's key.",
		Fixed:    "A key that is gone is not A's: the lock was lost, and nothing is left to delete.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.Truth},
		Given:    []oracle.Rule{oracle.LossHidden},
		GivenBy:  "loss-hidden-at-unlock",
		Requires: []Precondition{given("A A"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			isRefused := true
			a.Before(func(c world.Command) bool { return isRefused && c.Op == trace.OpUnlock }).Always().
				Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
			a.Lock()
			a.Unlock()
			isRefused = false
			w.Evict()
			a.Unlock()
			a.Lock(world.Within(patience(w)))
			a.Before(world.Nth(2, world.Of(trace.OpUnlock, world.Any))).IfSent().Freeze()
			w.Evict()
			if unlock := a.Unlock(); !unlock.Over() {
				b.Lock(world.Within(patience(w)))
				a.Thaw()
				unlock.Wait()
				c.TryLock()
			}
		},
	},
	{
		ID: "stranger-unlock", Family: Owner,
		Title:    "a client that holds nothing unlocks",
		Story:    "A holds the lock. B, which never took it, calls Unlock, as a deferred Unlock after a failed Lock does. A's key is gone, and C gets the lock while A is at work. Later B holds the lock itself, and unlocks. The earlier, extra Unlock must not be counted instead of this one: C has to get the lock.",
		Fixed:    "The owner's value: Unlock of a client that holds nothing returns ErrNotHeld.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.Truth},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			b.Unlock()
			c.TryLock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
			b.Unlock()
			c.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "double-unlock", Family: Owner, FirstScreen: true,
		Title:    "a client unlocks twice",
		Story:    "A unlocks, once by hand and once by defer. In between B has taken the lock: the second Unlock removes B's key, and C gets the lock while B is at work.",
		Fixed:    "A fresh value for each hold, forgotten once it is unlocked.",
		Breaks:   []oracle.Rule{oracle.WrongDelete},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
			a.Unlock()
			c.TryLock()
		},
	},
	{
		ID: "late-unlock", Family: Owner, FirstScreen: true,
		Title:    "an Unlock arrives after the next Lock",
		Story:    "A's Unlock is stuck in the network, and A gives up on it. After the lease A takes the lock again. Now the old command arrives and removes A's new hold; C gets the lock while A is at work. When A unlocks in the end, this must free the new hold, not retry the old Unlock.",
		Fixed:    "A value that is fresh for each hold, compared and deleted in one step.",
		Breaks:   []oracle.Rule{oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Leak}, // the first hold stays, since its Unlock never arrived in time
		Requires: []Precondition{given("A A"), arrivesLate("A")},
		Script: func(w *world.World) {
			a, c := w.Client("A"), w.Client("C")
			a.Lock()
			a.Before(world.Of(trace.OpUnlock, world.Write)).Delay(w.Lease + w.Lease/6)
			next := w.Now() + w.Lease + w.Lease/30
			a.Unlock(world.Within(w.Lease / 30))
			w.Sleep(max(0, next-w.Now())) // some locks take longer to give up
			a.Lock(world.Within(patience(w)))
			w.Sleep(patience(w)) // the old Unlock arrives
			c.TryLock()
			a.Unlock()
		},
	},
	{
		ID: "unlock-after-failed-unlock", Family: Owner,
		Title:    "Unlock fails, the lease ends, and A unlocks again",
		Story:    "A's Unlock is lost in the network, and Redis refuses all that A sends after it, until the lease has ended. A gets an error. Then B takes the lock, and A unlocks once more, as the error says it may. It must leave B's lock alone, and must not return nil: A's hold was lost, not released. Later A locks and unlocks as before: the failed Unlock must leave nothing behind in A's process.",
		Fixed:    "Unlock compares the owner's value. If it finds nothing, it does not take an earlier attempt of unknown outcome for a success.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.Truth},
		Given:    []oracle.Rule{oracle.Leak}, // the Unlock that failed leaves the key for the rest of its lease
		Requires: []Precondition{given("A B A"), ends("A")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			fails := true
			freeing := func(c world.Command) bool { // a goroutine may go on after the Unlock
				return fails && world.Write(c) && (c.Op == trace.OpUnlock || c.Background)
			}
			a.Lock()
			a.Before(freeing).Drop()
			a.Before(freeing).Always().IfSent().Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
			a.Unlock()
			w.Sleep(w.Lease + w.Lease/30)
			fails = false
			b.Lock(world.Within(patience(w)))
			a.Unlock()
			c.TryLock()
			b.Unlock()
			a.Lock(world.Within(patience(w)))
			a.Unlock()
		},
	},
	{
		ID: "try-while-holding", Family: Owner,
		Title:    "a holder tries again and then unlocks",
		Story:    "A holds the lock, tries to take it once more, and is told no if the lock is not re-entrant. Its Unlock must still free the lock that it has.",
		Fixed:    "The value is remembered only when the lock was taken.",
		Breaks:   []oracle.Rule{oracle.Truth, oracle.Leak, oracle.Deadlock},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			if a.TryLock().Held() { // a re-entrant lock says yes, and wants a second Unlock
				a.Unlock()
			}
			a.Unlock()
			asks(w, b, patience(w))
		},
	},
	{
		ID: "last-millisecond", Family: Owner, Variant: FixedLease,
		Title:    "a client asks in the last millisecond of the lease",
		Story:    "A's lease has less than a millisecond left as B tries. Redis refuses B, and says that 0 ms are left: PTTL counts whole milliseconds. A lock that takes this 0 for \"the lock is free\" gives it to B while A holds it.",
		Fixed:    "Success has its own reply, which cannot be mistaken for a TTL.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Truth},
		Requires: []Precondition{given("A"), asksAsItEnds("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease - time.Millisecond/2)
			b.TryLock()
		},
		Live: "on a real server no command can be timed to half a millisecond",
	},
	{
		ID: "unlock-fails-meanwhile", Family: Owner,
		Title:    "an Unlock gets an error, and another client has the lock by then",
		Story:    "A's Unlock frees the key, and the answers are late. B takes the lock. A's deadline passes, and an Unlock that makes sure with a DEL or a short lease takes B's lock away. Then B has unlocked, A takes the lock again, Redis evicts its key, and C takes the lock. Redis refuses what A's Unlock sends first, and the next command must not touch C's key either.",
		Fixed:    "Each command of an Unlock compares the owner, also the one after an error.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.WrongExtend},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			a.After(world.Of(trace.OpUnlock, world.Write)).Always().Delay(w.Lease / 6)
			unlock := a.StartUnlock(world.Within(w.Lease / 15))
			w.Sleep(w.Lease / 30)
			b.Lock(world.Within(patience(w)))
			unlock.Wait()
			w.Sleep(w.Lease / 4)
			b.Unlock()
			if !a.Lock(world.Within(patience(w))).Held() {
				return
			}
			w.Evict()
			c.Lock(world.Within(patience(w)))
			a.Before(world.Of(trace.OpUnlock, world.Any)).Fail("LOADING Redis is loading the dataset in memory")
			a.Unlock()
			w.Sleep(w.Lease / 15)
		},
	},
	{
		ID: "forced-unlock-told", Family: Owner, Needs: []Feature{Force},
		Title:    "an administrator asks whether there was a lock to free",
		Story:    "An administrator, B, frees a lock that A holds, and then one that no client holds. A takes it again, its key loses its lease, and B frees it once more. At last Redis refuses B's command. ForceUnlock has to say what it has done each time: that it freed the lock, that there was none, and the error.",
		Fixed:    "The script answers whether it has deleted the key, and ForceUnlock returns that, or the error.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "forced-unlock",
		Requires: []Precondition{given("A"), taken("A", trace.OpForce)},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.ForceUnlock()
			b.ForceUnlock()
			a.Unlock()
			a.Lock(world.Within(patience(w)))
			b.StartRun("PERSIST", w.Trace().LockKey()).Wait()
			b.ForceUnlock()
			a.Unlock()
			a.Lock(world.Within(patience(w)))
			b.Before(world.Of(trace.OpForce, world.Any)).Fail("LOADING Redis is loading the dataset in memory")
			b.ForceUnlock()
			a.Unlock()
		},
	},
	{
		ID: "forced-unlock", Family: Owner, Loss: true,
		Title:    "an administrator frees the lock",
		Story:    "A holds the lock, and C waits. An administrator, B, frees it by force. C gets it at once, while A is still at work and knows nothing.",
		Fixed:    "The forced unlock wakes the waiters. A's next renewal, within a third of the lease, tells A.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.LossHidden, oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{Force},
		Requires: []Precondition{given("A"), waits("C"), taken("A", trace.OpForce)},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			wait := c.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 4)
			b.ForceUnlock()
			wait.Wait()
			w.Sleep(w.Lease / 2)
		},
	},
}

// mostCommands is how many commands an Unlock or a renewal sends at most.
const mostCommands = 6

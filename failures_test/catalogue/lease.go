package catalogue

import (
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Failures of the lease: it is missing, or it ends before the work does.
var leaseFailures = []Failure{
	{
		ID: "crash-before-expire", Family: Lease, FirstScreen: true,
		Title:  "a crash between SETNX and PEXPIRE",
		Story:  "A takes the lock and dies before it can give the key a lease. An hour later the key is still there, and B waits for a client that does not exist.",
		Fixed:  "SET with NX and PX: the key and its lease come in one command.",
		Breaks: []oracle.Rule{oracle.Deadlock, oracle.Leak},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Crash() // in stage 1 that is between SETNX and PEXPIRE
			a.Lock()
			w.Sleep(w.LongSilence)
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "work-outlives-ttl", Family: Lease, FirstScreen: true,
		Title:    "the work takes longer than the lease",
		Story:    "A's lease ends while A is still at work. B takes the lock, and both create the same order.",
		Fixed:    "A watchdog renews the lease for as long as the work takes.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Check(order)
			w.Sleep(w.Lease + w.Lease/30) // A's work takes longer than its lease
			createOrder(w, b)
			a.Insert(order)
		},
	},
	{
		ID: "work-outlives-fixed-lease", Family: Lease, Variant: FixedLease, Loss: true,
		Title:    "the work takes longer than a lease that is not renewed",
		Story:    "A asks for a lease of its own choice, so no watchdog renews it, and works longer. B takes the lock when the lease is over. A goes on working, unless the lock tells it.",
		Fixed:    "The hold's context ends with the lease, and A stops.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A"), ends("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "loss-hidden-at-unlock", Family: Lease, FirstScreen: true, Variant: FixedLease,
		Title:    "a client unlocks after its lease has ended",
		Story:    "A's lease ends while A works. Nothing tells A, not even Unlock: it deletes a key that is gone and returns no error, so A believes that its work was protected. A calls it once more, and must not get nil now either. A then locks again: what the lost hold has left in its process must not block it.",
		Fixed:    "The owner's value in the key: Unlock sees that it is gone and returns ErrNotHeld.",
		Breaks:   []oracle.Rule{oracle.LossHidden, oracle.Truth, oracle.Deadlock},
		Requires: []Precondition{given("A"), ends("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/30)
			a.Unlock()
			a.Unlock()
			if a.Lock(world.Within(patience(w))).Held() {
				a.Unlock()
			}
		},
	},
	{
		ID: "lease-below-a-second", Family: Lease, Variant: FixedLease, Lease: 300 * time.Millisecond,
		Title:    "the lease is a fraction of a second",
		Story:    "A asks for a lease of 300 ms and works longer. B takes the lock within the same second, and then A unlocks. A lock that counts in whole seconds gives A no lease, or one of a second; one whose value is the time mistakes B's key for A's.",
		Fixed:    "PX, in milliseconds, and a random value for each hold.",
		Breaks:   []oracle.Rule{oracle.Lease, oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "work-outlives-ttl",
		Requires: []Precondition{given("A B"), ends("A")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
			a.Unlock()
			c.TryLock()
		},
		Live: leaseOfMachine,
	},
	{
		ID: "lease-between-seconds", Family: Lease, Lease: 3500 * time.Millisecond,
		Title:    "the lease is not a whole number of seconds",
		Story:    "A asks for a lease of 3.5 s and works for 3.25 s. A lock that tells Redis whole seconds asks for three: A's lease, or the renewed one, ends while A still has the right to work, and B gets the lock.",
		Fixed:    "PX and PEXPIRE, in milliseconds.",
		Breaks:   []oracle.Rule{oracle.Lease, oracle.Exclusion},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			w.Sleep(w.Lease * 9 / 35) // the clock of Redis, too, is between two seconds
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease * 13 / 14)
			if b.TryLock().Held() {
				b.Unlock()
			}
			a.Unlock()
			b.Lock(world.Within(patience(w)))
		},
		Live: leaseOfMachine,
	},
}

// leaseOfMachine is the reason why a story with a given lease runs in the world only.
const leaseOfMachine = "on a real server the lease is chosen for the machine, not for the story"

// order is the name of the order that clients create while they hold the lock.
const order = "tea"

// createOrder has a client create the order, if it gets the lock and the name is free. It returns the Lock.
func createOrder(w *world.World, c *world.Client) *world.Call {
	lock := c.Lock(world.Within(patience(w)))
	if lock.Held() {
		c.Check(order)
		c.Insert(order)
	}
	return lock
}

// asks has a client wait for the lock for that long. If its Lock does not wait, the time passes anyway.
func asks(w *world.World, c *world.Client, d time.Duration) *world.Call {
	began := w.Now()
	call := c.Lock(world.Within(d))
	if rest := began + d - w.Now(); rest > 0 && !call.Held() && call.Over() {
		w.Sleep(rest)
	}
	return call
}

// patience returns how long a client waits if it should get the lock well before: a
// third of the lease. It is no multiple of 100 ms: if a poll and a deadline fall on
// the same instant, either may come first.
func patience(w *world.World) time.Duration { return w.Lease/3 + 50*time.Millisecond }

package catalogue

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures in the use of a lock: it is freed before the work is visible, or taken together with another
// one.
var usageFailures = []Failure{
	{
		ID: "unlock-before-commit", Family: Usage, FirstScreen: true, PreventedBy: Caller, Cure: "show unlock-after-commit",
		Title:    "a client unlocks before it commits",
		Story:    "A's work is a transaction of the database. A locks, inserts the order, unlocks, and commits after that. In between B takes the lock and does not see the order, since it is not committed, and creates it too. This is what @Transactional does around a method that locks inside, and defer tx.Commit() before defer Unlock(), since the last defer runs first. Each client was alone inside the lock, but a part of A's work was outside.",
		Fixed:    "Nothing in the lock: no lock can keep its caller from unlocking too early. Commit, then unlock: the lock goes around the transaction.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A B"), inserts("A"), inserts("B")},
		Script: func(w *world.World) {
			a, b := beginAndInsert(w)
			a.Unlock()
			createIfFree(w, b)
			a.Commit()
		},
	},
	{
		ID: "unlock-after-commit", Family: Usage,
		Title:    "a client commits before it unlocks",
		Story:    "A's work is a transaction of the database, as before. A locks, inserts the order, commits, and unlocks after that. B takes the lock, sees the order, and creates nothing.",
		Fixed:    "Commit, then unlock: the lock goes around the transaction.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A B"), inserts("A")},
		Script: func(w *world.World) {
			a, b := beginAndInsert(w)
			a.Commit()
			a.Unlock()
			createIfFree(w, b)
		},
	},
	{
		ID: "two-locks-any-order", Family: Usage, Variant: Both, PreventedBy: Caller, Cure: "show two-locks-one-order",
		Title:    "two clients take two locks in opposite orders",
		Story:    "A takes order:1001 and then stock:tea, B takes stock:tea and then order:1001. Each has its first lock and waits for the other's: a deadlock. With a watchdog both renew what they have, and wait until one of them gives up. Without a watchdog the leases end while they wait: each gets the lock that the other has lost, and both believe that they have both locks.",
		Fixed:    "Nothing in the lock: it does not know the other lock. All clients take their locks in one order, such as that of the names. A deadline ends the wait.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Deadlock},
		Requires: []Precondition{haveOneEach("A", "B")},
		Script:   func(w *world.World) { takeBoth(w, []string{w.Lock, otherLock}, []string{otherLock, w.Lock}) },
		Live:     keysOfOne,
	},
	{
		ID: "two-locks-one-order", Family: Usage, Variant: Both,
		Title:    "two clients take two locks in one order",
		Story:    "A and B both take order:1001 and then stock:tea. The client that gets the first lock gets the second too. The other one waits for the first lock, and holds nothing that another client waits for. A unlocks both, and B comes next.",
		Fixed:    "All clients take their locks in one order, such as that of the names.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Deadlock},
		Requires: []Precondition{given("A B"), waits("B")},
		Script:   func(w *world.World) { takeBoth(w, []string{w.Lock, otherLock}, []string{w.Lock, otherLock}) },
		Live:     keysOfOne,
	},
	{
		ID: "done-twice", Family: Usage, FirstScreen: true, PreventedBy: Caller, Cure: "show done-twice-idempotent",
		Title:    "two hosts start the same job, one after the other",
		Story:    "The same job starts on two hosts at midnight. A locks, creates the order, works for a second, and unlocks. B's clock is two seconds late. When B begins, the lock is free: B takes it and creates the order too, without asking first. No two were inside at any time, and the job ran twice: exclusion is not once.",
		Fixed:    "Nothing in the lock: it was free. The caller has to make the job's effect idempotent, or leave a mark that the job of this night is done.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A B"), inserts("A"), inserts("B")},
		Script:   func(w *world.World) { doesJob(w, true) },
	},
	{
		ID: "done-twice-kept", Family: Usage, Variant: FixedLease,
		Title:    "the same job, with a lock that no client unlocks",
		Story:    "The same job on two hosts, as before, but the lock's name has the night in it, and A does not unlock: its key is the mark that the job is done. B comes two seconds later, is refused, and skips the job. The lease has to be longer than any two clocks may differ, and it must not be renewed. If A dies at work, the job of this night is not done.",
		Fixed:    "A lock for one run, with the run's planned time in its name, that ends with its lease.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A"), inserts("A")},
		Script:   func(w *world.World) { doesJob(w, false) },
	},
	{
		ID: "done-twice-idempotent", Family: Usage, Guard: world.IdempotencyGuard,
		Title:    "the same job, with an idempotency key",
		Story:    "The same job on two hosts, as before, and B takes the free lock too. The job of this night has a key, which both hosts derive from its planned time. The ledger stores that key with the order, and answers B with what A has done.",
		Fixed:    "An idempotency key for each run, stored in one transaction with its effect.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A B"), inserts("A"), inserts("B")},
		Script:   func(w *world.World) { doesJob(w, true) },
	},
}

// doesJob has A do a job, and B two seconds later if it gets the lock. Each inserts without asking first.
func doesJob(w *world.World, unlocks bool) {
	a, b := w.Client("A"), w.Client("B")
	does := func(c *world.Client) {
		if !c.TryLock().Held() {
			return
		}
		c.Insert(order)
		w.Sleep(w.Lease / 30)
		if unlocks {
			c.Unlock()
		}
	}
	does(a)
	w.Sleep(w.Lease / 30)
	does(b)
}

// beginAndInsert has A lock, and create the order in a transaction that is not committed.
func beginAndInsert(w *world.World) (a, b *world.Client) {
	a, b = w.Client("A"), w.Client("B")
	a.Begin()
	a.Lock()
	a.Check(order)
	a.Insert(order)
	return a, b
}

// createIfFree has a client create the order if it does not see it.
func createIfFree(w *world.World, c *world.Client) {
	if c.Lock(world.Within(patience(w))).Held() {
		if c.Check(order).Answer().Kind == trace.Free {
			c.Insert(order)
		}
		c.Unlock()
	}
}

// otherLock is the lock that clients take together with the world's own.
const otherLock = "stock:tea"

// keysOfOne is the reason why a story of two locks runs in the world only.
const keysOfOne = "on a real server only the keys of one lock are watched, and these are two"

// takeBoth has A and B take two locks. A's command for stock:tea is on its way while B begins.
func takeBoth(w *world.World, ofA, ofB []string) {
	a, b := w.ClientOf("A", ofA...), w.ClientOf("B", ofB...)
	isOther := func(arg string) bool { return strings.Contains(arg, otherLock) }
	a.Before(func(c world.Command) bool { return world.Write(c) && slices.ContainsFunc(c.Args, isOther) }).Delay(w.Lease / 60)
	longer := w.Lease + w.Lease/6 + 50*time.Millisecond // see [patience]
	first := a.StartLock(world.Within(longer))
	w.Sleep(w.Lease / 240)
	second := b.StartLock(world.Within(longer))
	w.Sleep(w.Lease / 6)
	if first.Held() {
		a.Unlock()
	}
	first.Wait()
	if second.Wait().Held() && !first.Held() {
		b.Unlock()
	}
}

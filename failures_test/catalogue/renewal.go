package catalogue

import (
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// Failures of the watchdog: it renews too little, or another client's lock.
var renewalFailures = []Failure{
	{
		ID: "renew-foreign", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "a renewal arrives when the next client has the lock",
		Story:    "A's process stands still as its watchdog sends a renewal. The lease ends, and B takes the lock. A wakes up, and the renewal arrives: if it does not check whose key it is, it keeps B's lock alive, forever if A goes on.",
		Fixed:    "The renewal is a script: compare the owner, then PEXPIRE.",
		Breaks:   []oracle.Rule{oracle.WrongExtend},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "process-pause",
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(w.Renews).Freeze()
			a.Lock()
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 15)
			a.Thaw()
			w.Sleep(w.Lease / 15)
		},
	},
	{
		ID: "renewal-stopped-after-look", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "the lock changes hands before the second command of a renewal",
		Story:    "A's process stands still before the second command that its watchdog sends, until the lease is over and B has the lock. If the first one was a look at the owner, it no longer counts: a renewal that extends in its next command, or watches the key only then, keeps B's lock alive.",
		Fixed:    "Nothing may lie between the look and the PEXPIRE: one script, or a WATCH before the look.",
		Breaks:   []oracle.Rule{oracle.WrongExtend},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "process-pause",
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			stop := a.Before(world.Nth(2, func(c world.Command) bool { return c.Background && world.Any(c) && c.Name != "SUBSCRIBE" }))
			stop.Freeze()
			a.Lock()
			w.SleepUntil(stop, 2*w.Lease, w.Lease+w.Lease/32)
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 15)
			a.Thaw()
			w.Sleep(w.Lease / 15)
		},
	},
	{
		ID: "renewal-fails-meanwhile", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "another client has the lock, and the renewal gets an error",
		Story:    "Redis evicts A's key, and B takes the lock. Then Redis answers A's next renewal with an error. A watchdog that makes sure of its lease after an error, with a PEXPIRE or a SET that asks for no owner, takes B's lock over.",
		Fixed:    "Each command that renews compares the owner, also the one after an error.",
		Breaks:   []oracle.Rule{oracle.WrongExtend, oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Exclusion},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease / 15)
			w.Evict()
			b.Lock(world.Within(patience(w)))
			isScript := func(c world.Command) bool { return c.Background && strings.HasPrefix(c.Name, "EVAL") }
			a.Before(isScript).IfSent().Fail("LOADING Redis is loading the dataset in memory")
			w.Sleep(w.Lease / 2)
		},
	},
	{
		ID: "renew-blip", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "one renewal fails",
		Story:    "Redis answers A's first renewal with an error, and would accept the second. A watchdog that gives up at the first error leaves A without a lease in the middle of its work.",
		Fixed:    "An error does not end the watchdog: it tries again while the lease lasts.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(w.Renews).Fail("LOADING Redis is loading the dataset in memory")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "renew-hangs", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "one renewal is stuck in the network",
		Story:    "A's first renewal is stuck in the network, and go-redis has no read timeout. Redis would answer the next one. A watchdog that waits for the first answer, or waits too long for a short lease, sends no other in time, and B gets the lock.",
		Fixed:    "Each renewal has a deadline that leaves time for another one within the lease: a part of the lease, and not 5 s.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog},
		Client:   world.Settings{ReadTimeout: -1},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(w.Renews).Delay(3 * w.Lease)
			a.Lock()
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			a.Unlock()
		},
	},
	{
		ID: "renew-blips", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "a renewal fails, and a lease later another one",
		Story:    "Redis answers one of A's renewals with an error, accepts the next ones, and then answers another one with an error, three times in all. A watchdog that remembers the errors, counts them, or has gone on with a shorter lease, does not survive that, and B gets the lock. Nor does one whose first command is only a look, and that has no time left when the second one fails.",
		Fixed:    "A renewal that succeeds makes up for all that failed before it.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog},
		Requires: []Precondition{given("A"), renewed("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			for n := range 3 {
				due := func(c world.Command) bool { return world.Background(c) && world.Any(c) && c.Name != "SUBSCRIBE" }
				a.Before(world.Nth(n%2+1, due)).IfSent().Fail("LOADING Redis is loading the dataset in memory")
				w.Sleep(w.Lease + w.Lease/3)
			}
			w.Sleep(w.Lease / 2)
			b.Lock(world.Within(patience(w)))
			a.Unlock()
		},
	},
	{
		ID: "renew-partition", Family: Renewal, FirstScreen: true, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "the holder loses its network",
		Story:    "A holds the lock, and its network is gone: no renewal gets through, the lease ends, B takes the lock. A hears nothing from Redis and goes on working, unless it looks at its own clock.",
		Fixed:    "The holder counts the lease itself, and ends the hold when it could not renew in time.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease * 2 / 15)
			a.Cut()
			w.Sleep(w.Lease*13/15 + w.Lease/32)
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "deadline-from-reply", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "the reply to the acquire is slow, then the network is gone",
		Story:    "The reply to A's acquire is slow, and then A's network is gone. Redis has counted since the command arrived. If A counts from the reply, it believes in its lease for too long, and B has the lock by then.",
		Fixed:    "The holder's own deadline counts from before the command was sent.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(w.Grants).Delay(w.Lease / 15)
			a.Lock()
			a.Cut()
			w.Sleep(w.Lease - w.Lease/15 + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 4)
		},
	},
	{
		ID: "renewal-from-reply", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "the answer to a renewal is slow, then the network is gone",
		Story:    "Redis counts the new lease from the moment when A's renewal arrives. The answer to it is slow, and then A's network is gone. If A counts the lease from the answer, A believes in it for too long, and B gets the lock meanwhile.",
		Fixed:    "Each renewal sets a new deadline for the holder: the time at which the renewal was sent, plus the lease.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A"), renewed("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			late := a.After(world.Extends)
			late.Delay(w.Lease / 15)
			a.Lock()
			w.SleepUntil(late, w.Lease, w.Lease/15+w.Lease/60)
			a.Cut()
			w.Sleep(w.Lease - w.Lease/15 - w.Lease/60 + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 4)
		},
	},
	{
		ID: "renewals-unanswered", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "the renewals arrive, and their answers do not",
		Story:    "A's renewals reach Redis, and their answers are too late. A cannot know that they arrived: it is told that its hold is lost, and unlocks. But Redis has given its key a new lease each time. If Unlock only reports the loss, B waits until that lease is over, although no client holds the lock.",
		Fixed:    "The Unlock of a lost hold asks Redis to free it all the same, and Redis compares the owner.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Given:    []oracle.Rule{oracle.Deadlock}, // B waits for the key that stays
		Requires: []Precondition{given("A"), renewed("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Extends).Always().Delay(w.Lease)
			a.Lock()
			w.Sleep(w.Lease + w.Lease/30)
			a.Unlock()
			asks(w, b, patience(w))
		},
	},
	{
		ID: "key-gone", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "Redis evicts the key, and B takes the lock",
		Story:    "Redis evicts A's key, and B takes the lock. For a moment A cannot know. But A's next renewal is answered with 0: if the watchdog ignores that answer, A goes on working while B holds the lock.",
		Fixed:    "A renewal that finds nothing ends the hold, within a third of the lease.",
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
		ID: "key-gone-at-unlock", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "Redis evicts the key, and A unlocks after its next renewal",
		Story:    "Redis evicts A's key, and A's next renewal finds nothing. The watchdog ends without telling A. Then A unlocks. If Unlock finds that the watchdog or the key is gone, and returns no error, A believes that its work was protected. A calls Unlock once more, as a deferred one does, and must not get nil now either. In A's next hold the key disappears just before the Unlock, so Unlock is the first to see it.",
		Fixed:    "Unlock reports what the watchdog saw: the hold was lost.",
		Breaks:   []oracle.Rule{oracle.LossHidden, oracle.Truth},
		Requires: []Precondition{given("A A"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Sleep(w.Lease * 2 / 15)
			w.Evict()
			w.Sleep(w.Lease / 2)
			a.Unlock()
			a.Unlock()
			a.Lock(world.Within(patience(w)))
			w.Evict()
			a.Unlock()
		},
	},
	{
		ID: "pool-starved", Family: Renewal, Needs: []Feature{Watchdog}, Loss: true,
		Title:    "the business occupies the connection that renewals need",
		Story:    "A's lock and its business share one connection, and a slow command of the business takes it for longer than the lease. The renewals wait in the process; Redis never sees one. B takes the lock.",
		Fixed:    "The holder's own deadline ends the hold; a separate client for the lock avoids it.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Client:   world.Settings{PoolSize: 1, ReadTimeout: -1},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			world.ForgetTimers()
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Before(world.Named("GET")).Delay(w.Lease + w.Lease/5)
			a.StartRun("GET", "x")
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 5)
			a.Unlock()
		},
	},
	{
		ID: "second-hold-renewed", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "a client locks a second time and works longer than its lease",
		Story:    "A locks, unlocks, and takes the lock again, this time with TryLock. It tries once more while it holds the lock, and works longer than its lease. If the first Unlock has stopped the watchdog for good, if only Lock starts one, or if the refused try stops it, the lease is not renewed, and B gets the lock.",
		Fixed:    "Each hold starts a watchdog of its own, whichever call took it.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.Truth},
		Requires: []Precondition{given("A A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease / 2)
			a.Unlock()
			a.TryLock()
			if a.TryLock().Held() { // a re-entrant lock says yes, and wants a second Unlock
				a.Unlock()
			}
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "next-hold-renewed", Family: Renewal, Needs: []Feature{Watchdog},
		Title:    "a late Unlock comes, and the next holder works longer than its lease",
		Story:    "A and G are goroutines of one process, each with a lock object of its own. Redis evicts A's key, and G takes the lock. A unlocks late, and G works longer than its lease. If the process keeps its watchdogs in a map by the lock's name, G's watchdog has replaced A's: A's Unlock stops it, G's lease ends, and C gets in. Then the same with B, which is another process.",
		Fixed:    "Keep a watchdog in the hold or in the object, not in a map by the lock's name.",
		Breaks:   []oracle.Rule{oracle.Watchdog},
		Given:    []oracle.Rule{oracle.Exclusion, oracle.LossHidden},
		GivenBy:  "evicted-or-flushed",
		Requires: []Precondition{given("A A G B"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			for _, next := range []*world.Client{a.Sibling("G"), b} {
				a.Lock(world.Within(patience(w)))
				w.Sleep(w.Lease * 2 / 15)
				w.Evict()
				next.Lock() // with a context that does not end
				w.Sleep(w.Lease / 2)
				a.Unlock()
				w.Sleep(w.Lease)
				if c.TryLock().Held() {
					c.Unlock()
				}
				next.Unlock()
			}
		},
	},
	{
		ID: "short-lease-renewed", Family: Renewal, Needs: []Feature{Watchdog}, Lease: 4500 * time.Millisecond,
		Title:    "the work takes longer than a short lease",
		Story:    "A asks for a lease of 4.5 s and works for twice as long. Then B takes the lock, and dies after its first renewal. A watchdog that renews every ten seconds, whatever the lease, comes too late: A and B create the same order. So does one that sends EXPIRE with 4.5: Redis takes whole seconds only, and answers with an error. One that always renews for thirty seconds lets C wait for a dead client.",
		Fixed:    "The watchdog takes its times from the lease: it renews after each third of it, with PEXPIRE.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.Damage, oracle.Lease, oracle.Deadlock, oracle.Leak},
		Requires: []Precondition{given("A B")},
		Live:     leaseOfMachine,
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			a.Check(order)
			w.Sleep(2 * w.Lease)
			createOrder(w, b)
			a.Insert(order)
			a.Unlock()
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease * 2 / 5)
			b.Crash()
			asks(w, c, w.Lease+patience(w))
		},
	},
	{
		ID: "shortest-lease-renewed", Family: Renewal, Needs: []Feature{Watchdog}, Lease: 600 * time.Millisecond,
		Title:    "the work takes longer than a lease below a second",
		Story:    "A asks for a lease of 600 ms and works for twice as long. A watchdog that renews every second, or every 10 s, comes too late: B gets the lock, and both create the same order. A lease in whole seconds is no lease at all.",
		Fixed:    "The watchdog takes its times from the lease, however short it is.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.Damage, oracle.Truth},
		Requires: []Precondition{given("A")},
		Live:     leaseOfMachine,
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Check(order)
			w.Sleep(2*w.Lease + w.Lease/32)
			createOrder(w, b)
			a.Insert(order)
		},
	},
	{
		ID: "dog-per-reentry", Family: Renewal, Needs: []Feature{Watchdog, Reentry},
		Title:    "a holder takes the lock twice more",
		Story:    "A takes the lock, and after a while twice more, a helper in a helper. It is one key with one lease: three watchdogs would send three times as many renewals, and one that is forgotten renews forever.",
		Fixed:    "One watchdog for each owner: the first hold starts it, the last one stops it.",
		Breaks:   []oracle.Rule{oracle.RenewalCount, oracle.Watchdog},
		Requires: []Precondition{given("A A A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Sleep(w.Lease + w.Lease/4) // the trace shows how often a single hold is renewed
			a.Lock(world.Within(patience(w)))
			a.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease + w.Lease/2)
			a.Unlock()
			a.Unlock()
			w.Sleep(w.Lease + w.Lease/4) // A still holds the lock once
			a.Unlock()
			w.Sleep(w.Lease)
		},
	},
}

package catalogue

import (
	"slices"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// RedLockServers is the number of servers of a lock over several servers.
const RedLockServers = 5

// OfRedLock are the failures of a lock over several independent servers, R1 to R5.
var OfRedLock = onServers([]Failure{
	{
		ID:       "redlock-minority-down",
		Title:    "two of five servers are down",
		Story:    "R4 and R5 are down. A takes the lock on R1, R2 and R3, which is a majority, and B is refused there. A unlocks, and B takes it. This is what RedLock is for: with a single server, its loss stops all clients.",
		Fixed:    "A majority is enough: any two majorities have a server in common.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Truth, oracle.Deadlock, oracle.Leak},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			w.Server(4).Stop()
			w.Server(5).Stop()
			a.Lock(world.Within(patience(w)))
			b.TryLock()
			a.Unlock()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID:       "redlock-split-vote",
		Title:    "three clients split the servers among them",
		Story:    "A, B and C ask at the same moment. A is first on R1 and R2, B on R3 and R4, C on R5, so none of them has a majority. Each releases its keys on all servers, pauses for a random time and asks again. They no longer meet, and get the lock one after the other. Without the release, the keys block all clients for a lease. With a pause that is always the same, the clients split the servers in this way at each attempt.",
		Fixed:    "A client without a majority releases its keys at once, and asks again after a random pause.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Deadlock, oracle.Leak, oracle.LostWakeUp},
		Requires: []Precondition{given("A B C")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			reaches(w, a, 1, 2)
			reaches(w, b, 3, 4)
			reaches(w, c, 5)
			calls := []*world.Call{
				a.StartLock(world.Within(patience(w))), b.StartLock(world.Within(patience(w))), c.StartLock(world.Within(patience(w))),
			}
			for len(calls) > 0 && w.Now() < patience(w) {
				w.Sleep(w.Lease / 300)
				calls = slices.DeleteFunc(calls, func(call *world.Call) bool { return call.Held() && call.Client.Unlock().Over() })
			}
		},
	},
	{
		ID:       "redlock-restart-empty",
		Title:    "a server restarts without its keys",
		Story:    "A takes the lock on R1, R2 and R3; its commands to R4 and R5 are lost. R3 restarts and has forgotten A's key. B takes the lock on R3, R4 and R5: these are two majorities, and the server that they share has lost its memory. The Redis documentation names two ways out: write each command to disk before it is answered, which is slow, or keep a restarted server away for longer than a lease. Kleppmann answers that the delay relies on clocks again.",
		Fixed:    "Delayed restarts, or fsync for each command. A resource that refuses late writes needs neither.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A B"), taken("A", serverDid)},
		Script:   func(w *world.World) { losesMajority(w, w.Server(3).Restart) },
	},
	{
		ID:       "redlock-restart-delayed",
		Title:    "a server that restarts stays away for longer than a lease",
		Story:    "As in redlock-restart-empty, A has the lock on R1, R2 and R3, and R3 loses its keys. This time it stays away, so B gets R4 and R5 only, and is refused. R3 comes back after a lease: all keys that it has forgotten would have expired by then.",
		Fixed:    "The delay, which costs availability: if two more servers are down, no client gets the lock until it is over.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A B"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			losesVotes(w, a)
			a.Lock(world.Within(patience(w)))
			a.Check(order)
			w.Server(3).Stop()
			b.TryLock()
			a.Insert(order)
			a.Unlock()
			w.Sleep(w.Lease + w.Lease/30)
			w.Server(3).Start()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID:       "redlock-clock-one",
		Title:    "the clock of one server jumps ahead",
		Story:    "A has the lock on all five servers. The clock of R1 jumps beyond the lease, and A's key is gone there. B gets R1 only, and is refused. With one server, the same jump lets B in.",
		Fixed:    "A majority with a vote to spare. With only three of the five keys, A would lose the lock by one jump: see redlock-clock-no-spare.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script:   func(w *world.World) { losesVote(w, func() { w.Server(1).JumpServerClock(w.Lease + w.Lease/30) }) },
	},
	{
		ID:       "redlock-clock-no-spare",
		Title:    "one clock jumps ahead, and A has no vote to spare",
		Story:    "A has the lock on R1, R2 and R3; its commands to R4 and R5 are lost. The clock of R3 jumps beyond the lease, and A's key is gone there: two of five are left. B takes the lock on R3, R4 and R5, and both create the order. This is Kleppmann's example. A failover of R3 to a replica without the key does the same. In redlock-clock-one and redlock-failover A has two votes to spare.",
		Fixed:    "Not in RedLock: a majority outlives as many such faults as it has votes to spare, and three of five have none. A guard of the resource needs no votes.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A B"), taken("A", serverDid)},
		Script: func(w *world.World) {
			losesMajority(w, func() { w.Server(3).JumpServerClock(w.Lease + w.Lease/30) })
		},
	},
	{
		ID:       "redlock-clock-majority",
		Title:    "the clocks of a majority jump ahead",
		Story:    "A has the lock on all five servers. An operator or a bad time server sets the clocks of R1, R2 and R3 ahead. A's lease is over there, B takes the lock on these three, and both create the order. Kleppmann: the safety of a lock must not depend on clocks. antirez: the clocks need not be right, they only have to run at about the same speed, and operators can avoid jumps.",
		Fixed:    "Clocks that are adjusted slowly and never set. A guard of the resource needs no clock.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A B"), taken("A", serverDid)},
		Script: func(w *world.World) {
			loseKey(w, func() {
				for n := range 3 {
					w.Server(n + 1).JumpServerClock(w.Lease + w.Lease/30)
				}
			}).Unlock()
		},
	},
	{
		ID:       "redlock-pause",
		Title:    "a holder pauses beyond its lease",
		Story:    "A has the lock on all five servers, sees that the order is free, and its process stands still. All leases end, B takes the lock and creates the order. A wakes up and creates it too. Five servers do not help here. Kleppmann: a lock that protects data needs a fencing token that rises with each hold, and RedLock has only random values, which have no order. antirez: a resource that can compare tokens hardly needs the lock, and a unique value is enough for a compare and set.",
		Fixed:    "Nothing in the lock. The resource has to refuse the late write.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Given:    []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("A B"), ends("A")},
		Script:   func(w *world.World) { pausesBeyondLease(w).Unlock() },
	},
	{
		ID:       "redlock-late-answers",
		Title:    "the answers take longer than the lease",
		Story:    "All servers give A the lock, and its process stands still before it reads the last answer. When A goes on, its leases are over and B has the lock. A looks at its clock: more than a lease has passed since it asked, so it does not have the lock, and asks again. It gets the lock when B has finished. Kleppmann: A can stand still after this check just as well, see redlock-pause. antirez: that is true of every lock that expires.",
		Fixed:    "Validity: the lease minus the time that the answers took, minus the drift of the clocks. If nothing is left, the client does not have the lock.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("B A"), ends("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.On(world.Of(trace.OpLock, world.Write), w.Server(RedLockServers))).Freeze()
			lock := a.StartLock(world.Within(2 * w.Lease))
			w.Sleep(w.Lease + w.Lease/30)
			createOrder(w, b)
			a.Thaw()
			w.Sleep(w.Lease / 30)
			b.Unlock()
			if lock.Wait().Held() {
				a.Check(order)
				a.Unlock()
			}
		},
	},
	{
		ID:       "redlock-failover",
		Title:    "a failover loses the key of one master",
		Story:    "Each of the five servers has a replica of its own. A has the lock on all of them, and R1 fails over to a replica that has not yet seen A's key. B gets R1 only, and is refused. With one master, the same failover lets B in.",
		Fixed:    "A majority with a vote to spare: see redlock-clock-no-spare.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script:   func(w *world.World) { losesVote(w, w.Server(1).Failover) },
	},
	{
		ID:       "redlock-late-release",
		Title:    "a release arrives when its client has the lock again",
		Story:    "A unlocks, and three of its commands are stuck in the network until the leases are over. A takes the lock again, and then the commands arrive. They delete only keys with the value of the first hold. If all holds of a client had the same value, they would free the second hold.",
		Fixed:    "A new value for each acquisition, and a release that compares it.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.Exclusion},
		Given:    []oracle.Rule{oracle.Leak}, // the keys of the first hold stay until their lease ends
		Requires: []Precondition{given("A A"), arrivesLate("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock(world.Within(patience(w)))
			for n := range 3 {
				a.Before(world.On(world.Of(trace.OpUnlock, world.Write), w.Server(n+1))).Delay(w.Lease + w.Lease/30)
			}
			a.Unlock()
			w.Sleep(w.Lease + w.Lease/60 - w.Now())
			a.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 15)
			b.TryLock()
		},
	},
	{
		ID:       "redlock-late-set",
		Title:    "three SETs arrive after the release",
		Story:    "A's SETs to R1, R2 and R3 are stuck in the network. A has only R4 and R5, releases its keys on all servers, and its TryLock returns without the lock. Then the three SETs arrive. All servers are up and no client holds the lock, but B gets no majority: A's keys stay for a whole lease, and no client will delete them.",
		Fixed:    "A short lease limits it. A client that got no answer can also repeat its release until the SET can no longer arrive: it compares the value, so it deletes no other key.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Requires: []Precondition{arrivesTooLate("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			for n := range 3 {
				a.Before(world.On(world.Of(trace.OpTryLock, world.Write), w.Server(n+1))).Delay(w.Lease / 10)
			}
			a.TryLock()
			w.Sleep(w.Lease / 10)
			for !b.TryLock().Held() && w.Now() < 2*w.Lease {
				w.Sleep(w.Lease / 2)
			}
		},
	},
	{
		ID:       "redlock-reply-lost",
		Title:    "the reply of each server is lost in turn",
		Story:    "A asks, and the reply of R1 is lost: A's key is there, and A does not know it. With four votes A has the lock. Its Unlock goes to all five servers, also to R1, and B takes the lock and unlocks. The same happens with the reply of R2, and so on. If Unlock goes only to the servers that have confirmed the key, one more key stays in each round, and after three rounds no client gets a majority.",
		Fixed:    "A release goes to every server, also to those that did not answer.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Deadlock, oracle.Truth},
		Requires: []Precondition{given("A A A A A B B B B B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			for n := range RedLockServers {
				a.After(world.On(world.Of(trace.OpLock, world.Write), w.Server(n+1))).Drop()
				for _, c := range []*world.Client{a, b} {
					c.Lock(world.Within(patience(w)))
					c.Unlock()
				}
			}
		},
	},
})

// onServers completes failures of a lock over several servers.
func onServers(all []Failure) []Failure {
	for i := range all {
		all[i].Family, all[i].Live = RedLock, "it needs five servers, whose clocks and restarts are ours to set"
	}
	return all
}

// reaches delays a client's commands to all servers but these. The client gets its last answer after
// clients that began at the same moment have asked.
func reaches(w *world.World, c *world.Client, first ...int) {
	for n := 1; n <= RedLockServers; n++ {
		if !slices.Contains(first, n) {
			c.Before(world.On(world.Of(trace.OpLock, world.Write), w.Server(n))).Always().Delay(w.Lease / 3000)
		}
	}
	c.After(world.On(world.Of(trace.OpLock, world.Write), w.Server(first[0]))).Always().Delay(w.Lease / 1500)
}

// losesVotes loses the client's commands to R4 and R5: it has a majority of exactly three.
func losesVotes(w *world.World, c *world.Client) {
	for n := 4; n <= RedLockServers; n++ {
		c.Before(world.On(world.Of(trace.OpLock, world.Write), w.Server(n))).Drop()
	}
}

// losesMajority has a holder of exactly three keys lose the one on R3, and lets another client create
// the order before the holder does.
func losesMajority(w *world.World, lose func()) {
	a, b := w.Client("A"), w.Client("B")
	losesVotes(w, a)
	a.Lock(world.Within(patience(w)))
	a.Check(order)
	lose()
	createOrder(w, b)
	a.Insert(order)
	a.Unlock()
}

// losesVote takes one key of a holder away, and lets another client ask.
func losesVote(w *world.World, lose func()) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock(world.Within(patience(w)))
	a.Check(order)
	w.Sleep(w.Lease / 30)
	lose()
	if b.TryLock().Held() {
		b.Check(order)
		b.Insert(order)
	}
	a.Insert(order)
	a.Unlock()
}

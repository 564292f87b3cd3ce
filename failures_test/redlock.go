package failures

import (
	"slices"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// redlockServers is how many servers a lock of several has.
const redlockServers = 5

// Failures of a lock over several independent servers, R1 to R5. The stages have one server, and
// are not asked.
var redlockFailures = onServers([]Failure{
	{
		ID:       "redlock-minority-down",
		Title:    "two of five servers are down",
		Story:    "R4 and R5 are down. A takes the lock on R1, R2 and R3, which is a majority, and B is refused there. A unlocks, and B takes it. This is what RedLock is for: with one server, its loss would stop everybody.",
		Fixed:    "A majority is enough: any two majorities have a server in common.",
		Breaks:   []oracle.Monitor{oracle.Exclusion, oracle.Truth, oracle.Deadlock, oracle.Leak},
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
		Story:    "A, B and C ask at the same moment. A is first on R1 and R2, B on R3 and R4, C on R5: nobody has a majority, and everybody is refused. Each one releases what it got, on every server, and waits for a random time. So they do not meet again, and get the lock one after the other. Without the release the keys would block everybody for a lease; without the random pause they could split the servers forever.",
		Fixed:    "Who gets no majority releases its keys at once, and asks again after a random pause.",
		Breaks:   []oracle.Monitor{oracle.Exclusion, oracle.Deadlock, oracle.Leak, oracle.LostWakeUp},
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
		Story:    "A takes the lock on R1, R2 and R3; its commands to R4 and R5 are lost. R3 restarts and has forgotten A's key. B takes the lock on R3, R4 and R5: two majorities, whose common server has lost its memory. The critics: so RedLock needs servers that write each command to disk before they answer, which costs what Redis is used for. Its author: keep a server that restarts away for longer than a lease.",
		Fixed:    "Delayed restarts, or fsync for each command. A resource that refuses the late write needs neither.",
		Breaks:   []oracle.Monitor{oracle.Damage},
		Given:    []oracle.Monitor{oracle.Exclusion},
		Requires: []Precondition{given("A B"), taken("A", serverDid)},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			losesVotes(w, a)
			a.Lock(world.Within(patience(w)))
			a.Check(order)
			w.Server(3).Restart()
			createOrder(w, b)
			a.Insert(order)
		},
	},
	{
		ID:       "redlock-restart-delayed",
		Title:    "a server that restarts stays away for longer than a lease",
		Story:    "As before, A has the lock on R1, R2 and R3, and R3 stops and loses its keys. This time it stays away. B gets R4 and R5 only, and is refused. R3 comes back when every key that it could have forgotten has expired anyway.",
		Fixed:    "The delay. It costs availability: with two more servers away nobody gets the lock until it is over.",
		Breaks:   []oracle.Monitor{oracle.Exclusion, oracle.Damage},
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
		Fixed:    "A majority survives what happens to a few servers. If A had only three of them, one jump would be enough: see redlock-restart-empty.",
		Breaks:   []oracle.Monitor{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script:   func(w *world.World) { losesVote(w, func() { w.Server(1).JumpServerClock(w.Lease + w.Lease/30) }) },
	},
	{
		ID:       "redlock-clock-majority",
		Title:    "the clocks of a majority jump ahead",
		Story:    "A has the lock on all five servers. An operator sets the clocks of R1, R2 and R3 ahead, or a bad time server does. There A's lease is over; B takes the lock on them, and both create the order. The critics: a lock must not depend on clocks to be safe. Its author: clocks need not be right, only count at about the same speed, and operators can avoid jumps.",
		Fixed:    "Clocks that are slewed and never set. A token that the resource compares needs no clock.",
		Breaks:   []oracle.Monitor{oracle.Damage},
		Given:    []oracle.Monitor{oracle.Exclusion},
		Requires: []Precondition{given("A B"), taken("A", serverDid)},
		Script: func(w *world.World) {
			loseKey(w, func() {
				for n := range 3 {
					w.Server(n + 1).JumpServerClock(w.Lease + w.Lease/30)
				}
			})
		},
	},
	{
		ID:       "redlock-pause",
		Title:    "a holder pauses beyond its lease",
		Story:    "A has the lock on all five servers, sees that the order is free, and its process stands still. All leases end, B takes the lock and creates the order. A wakes up and creates it too. Five servers change nothing here. The critics: a lock that protects data needs a token that rises with each hold, and RedLock has only random values, which have no order. Its author: a resource that can compare tokens could do without the lock; and a unique value is enough for compare and set.",
		Fixed:    "Nothing in the lock. The resource has to refuse the late write: go run . --guards",
		Breaks:   []oracle.Monitor{oracle.Damage},
		Given:    []oracle.Monitor{oracle.Exclusion, oracle.LossNoticed},
		Requires: []Precondition{given("A B"), ends("A")},
		Script:   pausesBeyondLease,
	},
	{
		ID:       "redlock-late-answers",
		Title:    "the answers take longer than the lease",
		Story:    "A has asked all servers, and its process stands still before it reads the last answer: every server says OK. When A goes on, the lease is over, and B has the lock. A compares its clock with the moment at which it began: nothing of the lease is left, so A does not have the lock. It gets it when B has finished. The critics: A can stand still after this check as well, see redlock-pause. Its author: true, and of every lock with a lease.",
		Fixed:    "Validity: the lease, less what the answers took, less the drift of the clocks. Nothing left means no lock.",
		Breaks:   []oracle.Monitor{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("B A"), ends("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.On(world.Of(world.OpLock, world.Write), w.Server(redlockServers))).Freeze()
			lock := a.StartLock(world.Within(2 * w.Lease))
			w.Sleep(w.Lease + w.Lease/30)
			createOrder(w, b)
			a.Thaw()
			w.Sleep(w.Lease / 30)
			b.Unlock()
			if lock.Wait().Held() {
				a.Check(order)
			}
		},
	},
	{
		ID:       "redlock-failover",
		Title:    "a failover loses the key of one master",
		Story:    "Each of the five servers has a replica of its own. A has the lock on all of them, and R1 fails over to a replica that has not yet seen A's key. B gets R1 only, and is refused. With one master, the same failover lets B in.",
		Fixed:    "A majority survives what happens to a few servers.",
		Breaks:   []oracle.Monitor{oracle.Exclusion, oracle.Damage},
		Requires: []Precondition{given("A"), taken("A", serverDid)},
		Script:   func(w *world.World) { losesVote(w, w.Server(1).Failover) },
	},
	{
		ID:       "redlock-late-release",
		Title:    "a release arrives when its client has the lock again",
		Story:    "A unlocks, and three of its commands are stuck in the network until the leases are over. A takes the lock again, and then the commands arrive. They delete only what has the value of the first hold; a value that belongs to the client would free the second hold under A's feet.",
		Fixed:    "A new value for each acquisition, and a release that compares it.",
		Breaks:   []oracle.Monitor{oracle.WrongDelete, oracle.Exclusion},
		Given:    []oracle.Monitor{oracle.Leak}, // the keys of the first hold stay until their lease ends
		Requires: []Precondition{given("A A"), arrivesLate("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock(world.Within(patience(w)))
			for n := range 3 {
				a.Before(world.On(world.Of(world.OpUnlock, world.Write), w.Server(n+1))).Delay(w.Lease + w.Lease/30)
			}
			a.Unlock()
			w.Sleep(w.Lease)
			a.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 15)
			b.TryLock()
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

// reaches has the first attempt of a client come late to all servers but these. It learns the last
// answer when all clients have asked.
func reaches(w *world.World, c *world.Client, first ...int) {
	for n := 1; n <= redlockServers; n++ {
		if !slices.Contains(first, n) {
			c.Before(world.On(world.Of(world.OpLock, world.Write), w.Server(n))).Delay(w.Lease / 3000)
		}
	}
	c.After(world.On(world.Of(world.OpLock, world.Write), w.Server(first[0]))).Delay(w.Lease / 1500)
}

// losesVotes loses what the client asks of R4 and R5: it has a majority of exactly three.
func losesVotes(w *world.World, c *world.Client) {
	for n := 4; n <= redlockServers; n++ {
		c.Before(world.On(world.Of(world.OpLock, world.Write), w.Server(n))).Drop()
	}
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

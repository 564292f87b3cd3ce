package catalogue

import "lockkata/failures_test/world"

// Guards protect a database without a token from the lock: two of the failures that no lock can
// prevent, with each guard of the ledger.
var guardFailures = guardedBy(
	guard{
		kind: world.UniqueGuard, ending: "-unique",
		pauses:  "A stands still beyond its lease, as before, and B creates the order. The database has a unique key: CREATE UNIQUE INDEX ON orders (name). A wakes up and inserts, and the database refuses the second row. It would do so without any lock. All that a lock can do is save A the work.",
		delayed: "A's write is stuck in the network, as before, and arrives after B's. The unique key refuses it: the database checks at the moment of the write, and nothing comes in between. It only helps where a second row has the same name: it does not stop an UPDATE of a row that is there. A client that repeats its own write is refused too, and is not told whose row it is; with ON CONFLICT DO NOTHING it gets 0 rows and no result.",
		fixed:   "A unique key on what must be there once.",
	},
	guard{
		kind: world.VersionGuard, ending: "-version",
		pauses:  "A reads version 1 and stands still beyond its lease, as before. B reads version 1 too and writes: now it is version 2. A wakes up and writes what follows from version 1: UPDATE … SET …, version = version + 1 WHERE id = 7 AND version = 1. That changes 0 rows, so A knows that it has to read again. A must not simply read the new version and write all the same.",
		delayed: "A's write is stuck in the network, as before, and carries the version that A has read. B's write has changed the version when it arrives. Compare and set is one statement, so it needs no lock. If many clients write at once, all but one have worked in vain: a lock saves that work. Several rows need one version for all of them. A client that repeats its own write is refused too: it cannot tell whether its first attempt or another client has changed the version.",
		fixed:   "Compare and set: each write names the version that it follows from.",
	},
	guard{
		kind: world.StockGuard, ending: "-stock",
		pauses:  "There is one tea left. A sees it and stands still beyond its lease, as before, and B takes it. A wakes up and takes it too: UPDATE items SET stock = stock - 1 WHERE name = 'tea' AND stock > 0. The database answers: 0 rows. A has to look at that number, since it is no error.",
		delayed: "A's write is stuck in the network, as before, and B takes the last tea. The condition is part of the write: it is checked when the write arrives, and not when A looked. So it does not matter who has the lock by then. The condition can only check what is in the row, such as a stock, a balance or a state. It counts pieces and not buyers: a client that repeats its own write takes another piece while there is one. A condition is not idempotent.",
		fixed:   "A conditional update: the condition stands in the WHERE of the write.",
	},
	guard{
		kind: world.IdempotencyGuard, ending: "-idempotent",
		pauses:  "A and B work on one request, r1, since its message came twice. A stands still beyond its lease, as before, and B does the work: one transaction stores the order, the key of the request and the result. A wakes up and sends the same key: INSERT … ON CONFLICT (request_key) DO NOTHING. That adds 0 rows and returns no result, so A has to read the result of B that is stored with the key. The ledger here does that in one step.",
		delayed: "A's write is stuck in the network, as before, and B does the same request. When A's write arrives, the request with its key has already been done. The key has to come from the caller, and be the same in each attempt: a new key for each attempt stops nothing. Two requests that want the same thing have two keys, and both are done. The key and the effect belong in one transaction: a crash between the two loses the work, or does it twice. An e-mail cannot be part of that transaction.",
		fixed:   "An idempotency key for each request, stored in one transaction with its effect and its result.",
	},
)

// guard is a guard of the ledger, with its stories in both failures.
type guard struct {
	kind                           world.Guard
	ending, pauses, delayed, fixed string
}

func guardedBy(guards ...guard) (all []Failure) {
	for i, stories := range []func(guard) string{func(g guard) string { return g.pauses }, func(g guard) string { return g.delayed }} {
		for _, g := range guards {
			f := limitFailures[i] // process-pause, write-delayed
			f.ID, f.GivenBy, f.Family, f.Title = f.ID+g.ending, f.ID, Guards, string(g.kind)+": "+f.Title
			f.Story, f.Fixed, f.Guard, f.PreventedBy, f.Cure, f.FirstScreen = stories(g), g.fixed, g.kind, "", "", false
			f.Requires = []Precondition{given("A B"), inserts("A"), inserts("B")}
			all = append(all, f)
		}
	}
	return all
}

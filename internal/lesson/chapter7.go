package lesson

import (
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

var chapter7 = Chapter{
	Title: "The next line is the write",
	Lead:  "The last lock: stage 6, whose holder is told of a loss. A has the lock, and has seen that the tea is free.",
	Parts: []Part{
		{
			Stage: "6",
			Facts: []i18n.Text{
				"A's process stands still for 31 s. B gets the lock and orders the tea. A wakes up, and its next line is the write.",
				"Each hold has a number that rises, its token: A's is lower than B's.",
			},
			Ask: "Who keeps the tea from being sold twice?",
			Is:  soldOnce, Run: writesAfter(stands),
			Answers: []Answer{
				{Words: "a shorter lease: 10 s", With: shorter, Then: "Sold twice. With a shorter lease a shorter pause is enough; with a longer one, a longer pause."},
				{Words: "the watchdog of stage 6", Then: "Sold twice. The watchdog lives in A's process and stood still too. A is told of the loss when it wakes up, and no line of A reads that before the next one, which writes."},
				{Words: "A, with one more look at the lock in the line before the write", Run: writesAfter(looks), Then: "Sold twice. The look said that A has the lock, and then came the pause. There is always a last look."},
				{Words: "a lock over five servers", With: overFive, Then: "Sold twice. Five leases end like one. No server fails here: A does."},
				{Words: "the ledger: it compares the tokens of A and B", With: guarded(world.TokenGuard), Then: "Sold once. B's token is higher, the ledger has seen it and refuses A's. It compares and writes in one step, when the write arrives."},
			},
		},
		{
			Stage: "6",
			Facts: []i18n.Text{"Now A does not stop, and the ledger compares nothing. A second after its Lock a Redis server is out of memory and evicts the lock's key. B calls TryLock, then A writes."},
			Ask:   "Which lock keeps the tea from being sold twice now?",
			Is:    soldOnce, Run: writesAfter(evicts),
			Answers: []Answer{
				{Words: "a shorter lease: 10 s", With: shorter, Then: "Sold twice. The key is gone before any lease is over."},
				{Words: "the watchdog of stage 6", Then: "Sold twice. It finds the key gone when it renews: at second 10."},
				{Words: "a lock over five servers", With: overFive, Then: "Sold once. Four servers still have A's key, and B gets no majority. Before, it was A that failed; here it is one server."},
				{Words: "none: no lock can", None: true, Then: "Stage 6 cannot. But here A runs, and a single server fails. Does no lock outlive a server?"},
			},
		},
		{
			New:   chapter0.Parts[0].New,
			Facts: []i18n.Text{"Three jobs, and no lock. Each time A and B look, then both write."},
			Ask:   "Which job is done twice, so that a lock would save something?",
			Is:    chapter0.Parts[0].Is, Run: inOrder("1324"),
			Answers: []Answer{
				{Words: "Sell the last tea: UPDATE … WHERE stock > 0", With: guarded(world.StockGuard), Then: "Done once. The database answers 0 rows to B, which has to look at that number. It needs no lock."},
				{Words: "A request that came twice: INSERT with its unique key", With: guarded(world.IdempotencyGuard), Then: "Done once. B gets A's result. It needs no lock."},
				{Words: "The monthly tea report: ten minutes of work, then a mail", Then: "Done twice. Here the ledger stands for a mail server: it refuses nothing. A lock saves ten minutes in most months, and promises nothing: you have seen a pause. If a second mail does no harm, this is what a lock is for."},
			},
		},
	},
	Remember: "A lock saves work. Only what is written to can refuse a write that comes late.",
	Entry:    "fencing-pause",
	Next:     "What does your lock protect, and could that refuse a late write?",
}

// soldOnce reports whether there is one order at the end.
func soldOnce(tr *trace.Trace) bool { return len(tr.End().Orders) == 1 }

// Changes of the world.
func shorter(c *world.Config)  { c.Lease = 10 * time.Second }
func overFive(c *world.Config) { *c = stages.RedLock.Subject.Config() }
func guarded(by world.Guard) func(*world.Config) {
	return func(c *world.Config) { c.Guard = by }
}

// Events between A's look at the ledger and its write.
func stands(w *world.World, a *world.Client) { a.Freeze(); w.Sleep(31 * time.Second) }
func looks(w *world.World, a *world.Client)  { a.HoldCount(); stands(w, a) }
func evicts(w *world.World, _ *world.Client) { w.Sleep(time.Second); w.Evict() }

// writesAfter lets A see that the tea is free, and order it after something has happened. B orders it in
// between, if it gets the lock.
func writesAfter(happens func(*world.World, *world.Client)) func(*world.World) {
	return func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Check(tea)
		happens(w, a)
		if b.TryLock().Held() {
			b.Check(tea)
			b.Insert(tea)
		}
		a.Thaw()
		a.Insert(tea)
	}
}

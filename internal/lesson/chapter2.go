package lesson

import (
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var chapter2 = Chapter{
	Title: "Who is inside?",
	Lead:  "A client is inside when it was told that it has the lock, and has not called Unlock. Unlock of stage 2 is one command.",
	Parts: []Part{
		{
			Stage: "2",
			Code:  []string{`if err := m.rdb.Do(ctx, "DEL"`, "return nil"},
			Facts: outlived, Ask: whoIsInside,
			Known: unlocks, Value: insiders, Run: outlives,
			Answers: []Answer{
				{Words: "B", Claim: "B", Then: "B is, but not alone. DEL asks nobody whose key it is: it deleted B's, and C found none."},
				{Words: "B and C", Claim: "B C", Then: "Yes. DEL asks nobody whose key it is. It deleted B's key, C found none, and nobody has told B."},
				{Words: "C", Claim: "C", Then: "C is, but B was told yes, too, and nobody has told it otherwise. A's DEL deleted B's key."},
				{Words: "nobody", Claim: "", Then: "A's DEL deleted B's key, but B does not know it, and C found no key and got the lock."},
			},
		},
		{
			Stage: "3",
			Code:  []string{`value, err := m.rdb.Do(ctx, "GET"`, "if value != m.value", "return ErrNotHeld", `if err := m.rdb.Do(ctx, "DEL"`},
			Facts: outlived, Ask: whoIsInside,
			Known: unlocks, Value: insiders, Run: outlives,
			Answers: []Answer{
				{Words: "B", Claim: "B", Then: "Yes. A reads B's value, sees that the key is not its own, and deletes nothing. C is refused."},
				{Words: "B and C", Claim: "B C", Then: "Not here. A reads B's value, sees that the key is not its own, and deletes nothing: C is refused."},
				{Words: "C", Claim: "C", Then: "Not here. A deletes nothing, since the value in the key is not its own. B keeps its key, and C is refused."},
				{Words: "nobody", Claim: "", Then: "B is: A deletes nothing, since the value in the key is not its own."},
			},
		},
	},
	Remember: "A key has to say whose it is, and an Unlock has to look before it deletes.",
	Entry:    "owner-delete",
	Next:     "Looking first is better. Is it enough?",
}

const whoIsInside i18n.Text = "Who is inside when C has tried?"

var outlived = []i18n.Text{
	"A works for 31 s, and its lease is 30 s. B gets the lock at second 31, beside A: another question is about that. Then A calls Unlock.",
	"C calls TryLock when A's Unlock has returned.",
}

// insiders returns the clients that have the lock at the end.
func insiders(tr *trace.Trace) string { return strings.Join(tr.End().Insiders(), " ") }

// outlives lets A work longer than its lease. B gets the lock, A unlocks, and C tries.
func outlives(w *world.World) {
	a, b, c := w.Clients("A", "B", "C")
	a.Lock()
	w.Sleep(w.Lease + time.Second)
	b.Lock()
	a.Unlock()
	c.TryLock()
}

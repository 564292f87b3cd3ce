package lesson

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// tea is the name of the order.
const tea = "tea"

var chapter0 = Chapter{
	Title: "One tea is left",
	Lead:  "Two servers, A and B, and one ledger. Each asks whether the tea is free, and writes its order if it was. There is no lock.",
	Parts: []Part{{
		New:     func(*world.Process, string, time.Duration) (world.Locker, error) { return noLock{}, nil },
		Facts:   []i18n.Text{"Each server asks before it writes."},
		Ask:     "You decide who acts when. Sell the last tea twice.",
		Moves:   []i18n.Text{"A asks", "A writes", "B asks", "B writes"},
		Is:      func(tr *trace.Trace) bool { return len(tr.End().Orders) > 1 },
		Answers: orders(),
	}},
	Remember: "Looking and acting are two steps, and another server can act in between.",
	Next:     "A key in Redis says who may act. What if its owner dies?",
}

// orders returns an answer for each order of the moves in which each server asks before it writes.
func orders() (all []Answer) {
	once := i18n.Text("Once. The second one asked when the first order was there, and did not write.")
	twice := i18n.Text("Twice. Both asked before either wrote, and both answers were true when they were given. In production nobody decides the order. A lock lets only one ask and write at a time.")
	for order, then := range map[string]i18n.Text{"1234": once, "3412": once, "1324": twice, "1342": twice, "3124": twice, "3142": twice} {
		all = append(all, Answer{Order: order, Run: inOrder(order), Then: then})
	}
	slices.SortFunc(all, func(a, b Answer) int { return cmp.Compare(a.Order, b.Order) })
	return all
}

// inOrder lets two servers ask and write in an order. A server writes only if the tea was free.
func inOrder(order string) func(*world.World) {
	return func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		asked := map[*world.Client]*world.Call{}
		for _, move := range order {
			server := a
			if move > '2' {
				server = b
			}
			switch first := asked[server]; {
			case first == nil:
				asked[server] = server.Check(tea)
			case first.Answer().Kind == trace.Free:
				server.Insert(tea)
			}
		}
	}
}

// noLock always grants the lock.
type noLock struct{}

func (noLock) Lock(context.Context) error            { return nil }
func (noLock) TryLock(context.Context) (bool, error) { return true, nil }
func (noLock) Unlock(context.Context) error          { return nil }

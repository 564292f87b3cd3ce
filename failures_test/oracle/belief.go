package oracle

import (
	"fmt"

	"lockkata/failures_test/world"
)

// beliefs follows who thinks that he holds the lock.
type beliefs struct {
	holds map[string]int    // lane → how often it took the lock and has not given it back
	lanes map[string]string // lane → process
	order []string          // lanes as they appeared
}

func newBeliefs() *beliefs {
	return &beliefs{holds: map[string]int{}, lanes: map[string]string{}}
}

// follow updates the beliefs by one event and returns the lane that has just come
// to believe, if any.
func (b *beliefs) follow(e world.Event) (entered string) {
	if e.Client != "" {
		if _, known := b.lanes[e.Client]; !known {
			b.order = append(b.order, e.Client)
		}
		b.lanes[e.Client] = e.Process
	}
	switch {
	case e.Kind == world.Returned && isAcquire(e.Op) && e.Result.Held:
		b.holds[e.Client]++
		return e.Client
	case e.Kind == world.Called && e.Op == world.OpUnlock && b.holds[e.Client] > 0:
		b.holds[e.Client]--
	case e.Kind == world.Lost:
		b.holds[e.Client] = 0
	case e.Kind == world.Crashed:
		for lane, process := range b.lanes {
			if process == e.Process {
				b.holds[lane] = 0
			}
		}
	}
	return ""
}

// other is a lane other than this one that believes, or "".
func (b *beliefs) other(lane string) string {
	for _, o := range b.order {
		if o != lane && b.holds[o] > 0 {
			return o
		}
	}
	return ""
}

func exclusion(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	for _, e := range trace.Events {
		entered := b.follow(e)
		if entered == "" {
			continue
		}
		if other := b.other(entered); other != "" {
			found = append(found, findingAt(e, fmt.Sprintf("%s is inside the lock while %s still is", entered, other)))
		}
	}
	return found
}

func damage(trace *world.Trace) []Finding {
	var found []Finding
	for _, e := range trace.Events {
		if e.Kind != world.Stored || e.Op != world.OpInsert || e.Reply != "inserted" {
			continue
		}
		last := e.Orders[len(e.Orders)-1]
		for _, o := range e.Orders[:len(e.Orders)-1] {
			if o.Name == last.Name {
				found = append(found, findingAt(e, fmt.Sprintf(
					"the ledger has the order %q twice, from %s and from %s", last.Name, o.Client, last.Client)))
				break
			}
		}
	}
	return found
}

// Noticed tells whether a holder was told, while it believed, that its hold is
// lost.
func Noticed(trace *world.Trace) bool {
	b := newBeliefs()
	for _, e := range trace.Events {
		if e.Kind == world.Lost && b.holds[e.Client] > 0 {
			return true
		}
		b.follow(e)
	}
	return false
}

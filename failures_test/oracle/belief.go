package oracle

import (
	"fmt"
	"time"

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
	if others := b.others(lane); len(others) > 0 {
		return others[0]
	}
	return ""
}

// others are the lanes other than this one that believe, as they appeared.
func (b *beliefs) others(lane string) []string {
	var believe []string
	for _, o := range b.order {
		if o != lane && b.holds[o] > 0 {
			believe = append(believe, o)
		}
	}
	return believe
}

// exclusion finds those who come in while another one believes. A holder whose key
// somebody else took away cannot know at once: it is excused if it is told in time.
func exclusion(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	taken := map[string]time.Duration{} // lane → when its key was taken away
	for n, e := range trace.Events {
		for _, effect := range e.Effects {
			switch {
			case effect.Kind == world.Installed:
				delete(taken, effect.Owner.Client)
			case effect.Kind == world.Removed && isTakenAway(e, effect.Owner):
				taken[effect.Owner.Client] = e.At
			}
		}
		entered := b.follow(e)
		if entered == "" {
			continue
		}
		for _, other := range b.others(entered) {
			at, gone := taken[other]
			if gone && isTold(trace.Events[n:], other, at+trace.Lease/3+Grace(trace)) {
				continue
			}
			found = append(found, findingAt(e, fmt.Sprintf("%s is inside the lock while %s still is", entered, other)))
			break
		}
	}
	return found
}

// isTakenAway tells whether an entry was removed by Redis itself, on whatever
// occasion, or by another process. A lease that ended is no such thing.
func isTakenAway(e world.Event, owner world.Owner) bool {
	return e.Kind == world.Server || e.Kind == world.Executed && e.Process != owner.Process
}

// isTold tells whether the lane is told, by then, that its hold is lost.
func isTold(events []world.Event, lane string, by time.Duration) bool {
	for _, e := range events {
		if e.At > by {
			return false
		}
		if e.Kind == world.Lost && e.Client == lane {
			return true
		}
	}
	return false
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

package schedule

import (
	"cmp"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// order is the order that all clients insert.
const order = "tea"

// actor is a client with its behaviour: it acquires the lock, checks whether the order exists,
// inserts it if not, unlocks, and repeats that for each attempt. If the property is about waiting,
// it unlocks immediately.
type actor struct {
	*world.Client
	setup Setup
	left  int // attempts
	call  *world.Call
	taken bool // from a failure's run
	owes  int  // holds at that moment, without the one of its last call
}

// actors returns the clients of a setup: A, B, C; or those of the run that is taken over.
func actors(w *world.World, s Setup) []*actor {
	if s.From != nil {
		return takeOver(w, s)
	}
	var all []*actor
	for i := range s.Clients {
		name := string(rune('A' + i))
		var c *world.Client
		if s.Together && i > 1 {
			c = all[1].Goroutine(name)
		} else {
			c = w.Client(name)
		}
		all = append(all, &actor{Client: c, setup: s, left: s.Attempts})
	}
	return all
}

// goOn begins the next call of a client whose last one has returned. It returns false if there is
// none.
func (a *actor) goOn() bool {
	next := a.next()
	a.call = cmp.Or(next, a.call)
	return next != nil
}

// done reports whether the client has nothing more to do.
func (a *actor) done() bool { return a.left == 0 && (a.call == nil || a.call.Over()) && !a.isInside() }

// isInside reports whether the client is between an acquire and the unlock.
func (a *actor) isInside() bool {
	if a.call == nil {
		return false
	}
	switch a.call.Op {
	case trace.OpLock, trace.OpTryLock:
		return a.call.Held() || a.owes > 0
	case trace.OpCheck, trace.OpInsert:
		return true
	}
	return a.owes > 0
}

// next begins the next call; nil while one is under way or if the client has finished.
func (a *actor) next() *world.Call {
	if a.call != nil && !a.call.Over() || a.taken && a.IsStopped() {
		return nil
	}
	inside, wait := a.isInside(), a.setup.Property.Wait // then the ledger does not matter
	switch {
	case !inside && a.left == 0:
		return nil
	case !inside:
		a.left--
		if wait {
			return a.StartLock()
		}
		return a.StartTryLock()
	case wait, a.call.Op == trace.OpInsert, a.call.Op == trace.OpCheck && a.call.Answer().Kind != trace.Free:
		return a.StartUnlock()
	case a.call.Op == trace.OpCheck:
		return a.StartInsert(order)
	case a.call.Op == trace.OpUnlock:
		a.owes--
		return a.StartUnlock()
	case !a.call.Held():
		a.owes--
	}
	return a.StartCheck(order)
}

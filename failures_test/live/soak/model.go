//go:build unix

package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// The model of one lock, for porcupine: who holds it, and the last fencing token.
//
//	acquire   only while nobody holds it, with a token higher than the last
//	release   only by its holder
//	expire    of a hold that no release has ended: the server ends it. It may take
//	          effect at any time from the earliest end of its last confirmed lease,
//	          or from when an unlock of unknown outcome was asked for
//	force     frees the lock, whoever holds it; so does a server that comes back
//	          without its data
//	nobody    a ForceUnlock that says that nobody held it
//
// Nobody outside sees the last renewal. What one can see is that the owner was not
// told of a loss, though its process was running: up to then its lease was
// confirmed (hold.sureUntil), and it lasts as long as its acquire made it in any
// case. A lock that never tells has to keep its word until it is unlocked.
//
// Three things are left out since they only make the model allow more: acquires
// that were refused, since a hold that nobody knows of may have refused them;
// acquires of unknown outcome, for the same reason; and an unlock that says that
// the hold was lost, which is the hold's expiry or force.
type opKind int

const (
	opAcquire opKind = iota
	opRelease
	opExpire
	opForce
	opNobody
)

// action is the input of an operation of the model.
type action struct {
	kind  opKind
	hold  int64
	token int64
	nth   int  // tells one force from another
	maybe bool // a release that may have found the lock taken away by force
}

// state is the state of the model. freed is the hold that force took away last: its
// own end then changes nothing.
type state struct{ holder, token, freed int64 }

func step(s state, a action) (bool, state) {
	switch a.kind {
	case opAcquire:
		ok := s.holder == 0 && (a.token == 0 || a.token > s.token)
		return ok, state{a.hold, a.token, s.freed}
	case opRelease, opExpire:
		if s.holder == a.hold {
			return true, state{0, s.token, s.freed}
		}
		return a.maybe || a.kind == opExpire && s.freed == a.hold, s
	case opForce:
		if s.holder == 0 {
			return true, s
		}
		return true, state{0, s.token, s.holder}
	default:
		return s.holder == 0, s
	}
}

func model(initial state) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(s, in, _ any) (bool, any) {
			ok, next := step(s.(state), in.(action))
			return ok, next
		},
	}
}

// checkTime is how long one piece may take. What is not decided by then is unknown.
const checkTime = 20 * time.Second

// linearizability is the verdict on the histories of all locks.
type linearizability struct {
	locks, operations, pieces int
	unknown                   int
	illegal                   []illegalPiece
}

// illegalPiece is a part of a lock's history that no order of its operations
// explains.
type illegalPiece struct {
	lock    int
	culprit action // the first that fits nowhere
	before  state  // what it met
	at      span
}

// linearize checks each lock's history on its own.
func (h *history) linearize(locks int, lease, slack moment) linearizability {
	v := linearizability{locks: locks}
	for lock := range locks {
		for _, p := range pieces(h.operations(lock, lease, slack)) {
			v.pieces++
			v.operations += len(p.ops)
			switch porcupine.CheckOperationsTimeout(model(p.initial), p.ops, checkTime) {
			case porcupine.Unknown:
				v.unknown++
			case porcupine.Illegal:
				v.illegal = append(v.illegal, p.explain(lock))
			}
		}
	}
	return v
}

// explain finds the operation at which the longest explanation ends.
func (p piece) explain(lock int) illegalPiece {
	_, info := porcupine.CheckOperationsVerbose(model(p.initial), p.ops, checkTime)
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	found := illegalPiece{lock: lock, before: p.initial}
	explained := map[action]bool{}
	for _, op := range longest {
		explained[op.Input.(action)] = true
		_, found.before = step(found.before, op.Input.(action))
	}
	left := slices.DeleteFunc(slices.Clone(p.ops), func(op porcupine.Operation) bool {
		return explained[op.Input.(action)]
	})
	first := slices.MinFunc(left, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	found.culprit = first.Input.(action)
	found.at = span{moment(first.Call), moment(first.Return)}
	return found
}

// said tells what the operation claims and why that cannot be.
func (i illegalPiece) said(h *history) string {
	who := func(hold int64) string {
		if o := h.holds[hold]; o != nil {
			return o.String()
		}
		return "nobody"
	}
	switch i.culprit.kind {
	case opAcquire:
		if i.before.holder == 0 {
			return fmt.Sprintf("%s got the lock with the token %d, after the token %d", who(i.culprit.hold), i.culprit.token, i.before.token)
		}
		later, earlier := h.holds[i.culprit.hold], h.holds[i.before.holder]
		if later.answered < earlier.answered { // the order that failed need not be the real one
			later, earlier = earlier, later
		}
		return fmt.Sprintf("%s got the lock while %s held it, whose lease could not have run out", later, earlier)
	case opRelease:
		return fmt.Sprintf("%s freed the lock, and was told so, while %s held it", who(i.culprit.hold), who(i.before.holder))
	case opExpire:
		return fmt.Sprintf("the hold of %s had to end before others held the lock, and could not have", who(i.culprit.hold))
	}
	return fmt.Sprintf("a forced unlock found nobody, while %s held the lock", who(i.before.holder))
}

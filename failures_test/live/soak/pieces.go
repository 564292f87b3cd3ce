//go:build unix

package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"
)

// A lock's history is thousands of operations, some of which wait long or end
// never. Two facts about the model make it quick to check, and change no verdict.
//
// A hold is certain from its acquire's answer until its unlock is asked for, if
// that unlock says that it freed the lock: whoever else is certain to hold the lock
// at a moment later than that acquired it later.
//
// Where one hold is certain, everything before and everything after can be checked
// on its own.

// piece is a part of a lock's history with the state in which it begins.
type piece struct {
	initial state
	ops     []porcupine.Operation
}

// never is the moment after all others.
const never = moment(math.MaxInt64)

// operations are the model's operations of a lock, in the order of their calls.
func (h *history) operations(lock int, lease, slack moment) ([]porcupine.Operation, []*hold) {
	granted := h.granted(lock)
	taken := map[*hold]bool{} // by force, or may have been
	var certain []*hold
	for _, o := range granted {
		taken[o] = len(h.disturbed(o, slack)) > 0
		if o.became == freed && !taken[o] {
			certain = append(certain, o)
		}
	}
	var ops []porcupine.Operation
	add := func(from, to moment, a action) {
		ops = append(ops, porcupine.Operation{Input: a, Call: int64(from), Return: int64(max(from, to))})
	}
	for _, o := range granted {
		end := max(o.asked+lease, o.sureUntil(slack)) // of its lease, at the earliest
		from := o.asked
		if !taken[o] && (o.became == freed || end >= o.answered) {
			from = max(from, lastCertain(certain, o.answered))
		}
		add(from, o.answered, action{kind: opAcquire, hold: o.id, token: o.token})
		until := firstCertain(certain, o.answered)
		switch {
		case o.became == freed:
			add(o.unlocking, o.unlocked, action{kind: opRelease, hold: o.id, maybe: taken[o]})
			continue
		case taken[o]:
			end = o.asked
		case o.unlocking > 0 && o.became != gone:
			end = min(end, o.unlocking) // it may have freed the lock
		}
		add(end, until, action{kind: opExpire, hold: o.id})
	}
	for i, f := range h.forced {
		if f.lock != lock {
			continue
		}
		kind := opForce
		if !f.freed && !f.unknown {
			kind = opNobody
		}
		add(f.from, f.to, action{kind: kind, nth: i})
	}
	for i, s := range h.forgotten {
		add(s.from, s.to, action{kind: opForce, nth: -1 - i})
	}
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops, certain
}

// lastCertain is the end of the last certain hold that ended before a moment.
// certain is in the order of acquires.
func lastCertain(certain []*hold, before moment) moment {
	at, _ := slices.BinarySearchFunc(certain, before, func(o *hold, t moment) int { return cmp.Compare(o.answered, t) })
	var last moment
	for _, o := range certain[max(0, at-8):at] { // one that ended earlier would say less
		if o.unlocking < before {
			last = max(last, o.unlocking)
		}
	}
	return last
}

// firstCertain is when the first certain hold began that was got after a moment.
func firstCertain(certain []*hold, after moment) moment {
	at, found := slices.BinarySearchFunc(certain, after+1, func(o *hold, t moment) int { return cmp.Compare(o.answered, t) })
	if found || at < len(certain) {
		return certain[at].answered
	}
	return never
}

// pieceSize is how many operations are checked together at least, if there are.
const pieceSize = 200

// pieces cuts a history just before the release of a certain hold, where all that
// was called before it has ended.
func pieces(ops []porcupine.Operation, certain []*hold) []piece {
	byID := map[int64]*hold{}
	for _, o := range certain {
		byID[o.id] = o
	}
	var all []piece
	var initial state
	ended := int64(math.MinInt64)
	begin := 0
	for i, op := range ops {
		a := op.Input.(action)
		if o := byID[a.hold]; o != nil && a.kind == opRelease && i-begin >= pieceSize && ended < op.Call {
			all = append(all, piece{initial, ops[begin:i]})
			begin, initial = i, state{holder: o.id, token: o.token}
		}
		ended = max(ended, op.Return)
	}
	if begin < len(ops) {
		all = append(all, piece{initial, ops[begin:]})
	}
	return all
}

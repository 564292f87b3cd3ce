package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// action is an operation of the model of one lock, for porcupine: who holds it, and
// the last fencing token.
//
//	acquired   while nobody holds it, or only a hold whose lease may be over, with a
//	           token higher than the last
//	released   only by its holder
//	taken      by force, or by a server that loses its data
//
// Nobody outside sees the last renewal. What one can see is that the owner was not
// told of a loss, though its process was running: up to then its lease was
// confirmed (sureUntil), and it lasts as long as its acquire made it in any case. A
// hold whose unlock says that it freed the lock had its lease up to then.
//
// Some things are left out since they only make the model allow more: acquires that
// were refused or have an unknown outcome, since a hold that nobody knows of may
// have been in their way; an unlock that says that the hold was lost, which is the
// hold's end; and holds around a loss, which may have been their end.
type action struct {
	kind string
	hold *hold // that is acquired or released
	span
}

// The kinds of action.
const (
	acquired = "the acquire"
	released = "the release"
	taken    = "the loss"
)

// state is the state of the model.
type state struct {
	holder *hold
	token  int64
}

func step(s state, a action) (bool, state) {
	switch a.kind {
	case acquired:
		mayBeFree := s.holder == nil || s.holder.mayEnd <= a.to
		return mayBeFree && (a.hold.Token == 0 || a.hold.Token > s.token), state{a.hold, a.hold.Token}
	case released:
		return s.holder == a.hold, state{nil, s.token}
	}
	return true, state{nil, s.token}
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

// limit says when the lease of a hold may be over at the earliest.
func (h *history) limit(o *hold) moment {
	sure := max(o.at(asks)+h.Lease, h.sureUntil(o))
	switch {
	case o.at(freed) > 0:
		return never
	case o.at(unlocks) > 0 && (o.at(gone) == 0 || o.at(gone) >= sure):
		return min(sure, o.at(unlocks)) // the unlock may have freed the lock: an answer that late cannot tell
	}
	return sure
}

// actions are those of a lock, in the order of their calls. An acquire may wait
// long, which makes a history slow to check. But whoever is certain to hold the lock,
// from its answer until its unlock was asked for, held it before those that were got
// later and cannot be over.
func (h *history) actions(lock int, granted []*hold) (all []action) {
	var certain moment // the end of the last such hold
	for _, o := range granted {
		if len(h.lossesOf(o)) > 0 {
			continue
		}
		from, got := o.at(asks), o.at(holds)
		if o.mayEnd = h.limit(o); o.mayEnd >= got && certain < got {
			from = max(from, certain)
		}
		all = append(all, action{acquired, o, span{from, got}})
		if o.at(freed) > 0 {
			all = append(all, action{released, o, span{o.at(unlocks), o.at(freed)}})
			certain = o.at(unlocks)
		}
	}
	for _, l := range h.losses {
		if l.lock == lock || l.lock == every {
			all = append(all, action{taken, nil, l.span})
		}
	}
	slices.SortStableFunc(all, func(a, b action) int { return cmp.Compare(a.from, b.from) })
	return all
}

// linearizability is what became of the check.
type linearizability struct{ operations, pieces, unknown int }

// Porcupine's time and memory grow with the square of a history: it is cut where
// one hold is certain and all that was called before has ended. A piece has so many
// operations at least, if there are, and may take so long.
const (
	pieceSize = 200
	checkTime = 20 * time.Second
)

// linearize checks a lock's history.
func (h *history) linearize(lock int, granted []*hold, checked *linearizability) {
	var initial state
	var piece []porcupine.Operation
	ended := moment(math.MinInt64)
	for _, a := range h.actions(lock, granted) {
		if a.kind == released && len(piece) >= pieceSize && ended < a.from {
			h.check(initial, piece, checked)
			initial, piece = state{a.hold, a.hold.Token}, nil
		}
		piece = append(piece, porcupine.Operation{Input: a, Call: int64(a.from), Return: int64(a.to)})
		ended = max(ended, a.to)
	}
	h.check(initial, piece, checked)
}

// check checks one piece.
func (h *history) check(initial state, ops []porcupine.Operation, checked *linearizability) {
	checked.operations += len(ops)
	checked.pieces++
	switch porcupine.CheckOperationsTimeout(model(initial), ops, checkTime) {
	case porcupine.Unknown:
		checked.unknown++
	case porcupine.Illegal:
		h.explain(initial, ops)
	}
}

// explain finds what fits nowhere: the first to return of those that the longest
// explanation leaves out.
func (h *history) explain(initial state, ops []porcupine.Operation) {
	_, info := porcupine.CheckOperationsVerbose(model(initial), ops, checkTime)
	longest := slices.MaxFunc(info.PartialLinearizationsOperations()[0],
		func(a, b []porcupine.Operation) int { return cmp.Compare(len(a), len(b)) })
	s, explained := initial, map[any]bool{}
	for _, op := range longest {
		explained[op.Input] = true
		_, s = step(s, op.Input.(action))
	}
	left := slices.DeleteFunc(slices.Clone(ops), func(op porcupine.Operation) bool { return explained[op.Input] })
	wrong := slices.MinFunc(left, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) }).Input.(action)
	h.convict(nonLinearizable, fmt.Sprintf("%s (%s) fits nowhere: %s held the lock, and the last token was %d", wrong.kind, wrong.hold, s.holder, s.token),
		slices.DeleteFunc([]*hold{s.holder, wrong.hold}, func(o *hold) bool { return o == nil })...)
}

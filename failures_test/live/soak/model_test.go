//go:build live && unix

package soak

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is an input of the model. Its kind is that of the event that completed it, or one of
// the kinds below.
type operation struct {
	kind  string
	hold  *hold
	value int64 // of the ledger
	span
}

const (
	removed    = "may have lost its key"     // by ForceUnlock, or with the server's data
	maybeRead  = "may have read the ledger"  // and was killed
	maybeWrote = "may have wrote the ledger" // and was killed
)

// state is the state of a lock or of a ledger.
type state struct {
	holder *hold // of a ledger: the last hold that used it
	token  int64 // highest so far
	value  int64 // of a ledger
}

// next is the sequential specification: it returns the possible states after an operation.
//
// A lock can be acquired while it is free, or when the lease of its holder may have ended, with a
// token higher than all before. Only the holder can unlock it. The model does not see renewals;
// earliestEnd returns how long a lease must have lasted. It ignores failed and unknown acquires,
// and unlocks of lost locks: this only makes it more permissive.
//
// A ledger rejects a token lower than the highest so far, and an equal token of another hold, for
// reads too. Otherwise an old holder could write between the next holder's read and write. A write
// adds one to the current value, so no update is lost.
func next(s state, op operation) []any {
	if op.kind == removed {
		if s.holder == nil || s.holder.mayEnd > op.to+lease {
			return []any{s} // it held the lock for another lease, so it had not lost it
		}
		return []any{s, state{token: s.token}}
	}
	used := state{op.hold, op.hold.Token, s.value}
	isNewer := used.token == 0 || used.token > s.token
	isAllowed := isNewer || used.token == s.token && used.holder == s.holder
	switch op.kind {
	case acquired:
		isAllowed = isNewer && (s.holder == nil || s.holder.mayEnd <= op.to)
	case unlocked:
		isAllowed, used = s.holder == op.hold, state{token: s.token}
	case rejected:
		isAllowed, used = !isAllowed, s
	case read:
		isAllowed = isAllowed && op.value == s.value
	case wrote, maybeWrote:
		used.value++
		isAllowed = isAllowed && op.value == used.value
	}
	var states []any
	if isAllowed {
		states = append(states, used)
	}
	if op.kind == maybeRead || op.kind == maybeWrote {
		states = append(states, s)
	}
	return states
}

var nondeterministic = porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{}} },
	Step: func(s, in, _ any) []any { return next(s.(state), in.(operation)) },
}

var model = nondeterministic.ToModel()

// earliestEnd returns when the lease of a hold may have ended at the earliest, and why not before.
// The holder must have had a lease while it had not learned of a loss, unless its timers were late.
func (o *hold) earliestEnd() (at time.Duration, why string) {
	if worked := o.at(unlocked); worked > 0 {
		return 1<<63 - 1, fmt.Sprintf("its unlock worked by %v", worked)
	}
	at, why = o.at(asked)+lease, fmt.Sprintf("it asked at %v for a lease of %v", o.at(asked), lease)
	end := o.end()
	if sure := end.At - end.Late - unseenLateness; sure > at {
		at, why = sure, fmt.Sprintf("%q is from %v, with timers up to %v late", end.Kind, end.At, end.Late)
	}
	if began := o.at(unlocking); began > 0 && began < at && (o.at(notHeld) == 0 || o.at(notHeld) >= at) {
		return began, fmt.Sprintf("its unlock from %v on may have worked", began)
	}
	return at, why
}

func (op operation) String() string {
	return fmt.Sprintf("%s %s (lock %d, value %d)", op.hold, op.kind, op.hold.Lock, op.value)
}

// lockOperations returns the operations of a lock in the order of their calls.
func (h *history) lockOperations(lock int, granted []*hold) (ops []operation) {
	for _, o := range granted {
		o.mayEnd, _ = o.earliestEnd()
		ops = append(ops, operation{acquired, o, 0, span{o.at(asked), o.at(acquired)}})
		if o.at(unlocked) > 0 {
			ops = append(ops, operation{unlocked, o, 0, span{o.at(unlocking), o.at(unlocked)}})
		}
	}
	for _, l := range h.losses {
		if l.hits(lock) {
			ops = append(ops, operation{removed, nil, 0, l.span})
		}
	}
	slices.SortStableFunc(ops, func(a, b operation) int { return cmp.Compare(a.from, b.from) })
	return ops
}

// ledgerOperations returns the operations of the ledger of a lock. A killed worker may
// have sent one that it did not report.
func ledgerOperations(granted []*hold) (ops []operation) {
	for _, o := range granted {
		unreported := operation{maybeRead, o, 0, span{o.at(acquired), o.by.ended}}
		for _, e := range o.events {
			switch e.Kind {
			case read:
				unreported = operation{maybeWrote, o, e.Value + 1, span{e.At, unreported.to}}
			case wrote, rejected:
				unreported.kind = ""
			default:
				continue
			}
			ops = append(ops, operation{e.Kind, o, e.Value, span{e.Since, e.At}})
		}
		if unreported.kind != "" && o.at(unlocking) == 0 {
			ops = append(ops, unreported)
		}
	}
	return ops
}

// calls returns operations as porcupine gets them.
func calls(ops []operation) (calls []porcupine.Operation) {
	for _, op := range ops {
		calls = append(calls, porcupine.Operation{Input: op, Call: int64(op.from), Return: int64(op.to)})
	}
	return calls
}

// checkTime limits the check of one lock or ledger.
const checkTime = 20 * time.Second

// check checks a complete history. It returns the number of operations, and how many histories
// porcupine could not decide.
func (h *history) check() (operations, undecided int) {
	for lock := range locks {
		granted := h.granted(lock)
		h.checkWaits(lock, granted)
		for kind, ops := range map[string][]operation{
			lockIllegal: h.lockOperations(lock, granted), ledgerIllegal: ledgerOperations(granted),
		} {
			operations += len(ops)
			switch porcupine.CheckOperationsTimeout(model, calls(ops), checkTime) {
			case porcupine.Unknown:
				undecided++
			case porcupine.Illegal:
				if kind == ledgerIllegal || !h.explainOverlap(lock, granted) {
					h.explain(kind, calls(ops))
				}
			}
		}
	}
	return operations, undecided
}

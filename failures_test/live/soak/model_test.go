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

// earliestEnd returns when the lease of a hold may have ended at the earliest.
func (o *hold) earliestEnd() time.Duration {
	sure := max(o.at(asked)+lease, o.sureUntil())
	switch {
	case o.at(unlocked) > 0:
		return 1<<63 - 1 // it lasted until the unlock
	case o.at(unlocking) > 0 && (o.at(notHeld) == 0 || o.at(notHeld) >= sure):
		return min(sure, o.at(unlocking)) // the unlock may have worked
	}
	return sure
}

func (op operation) String() string {
	if op.hold == nil {
		return "a holder " + op.kind
	}
	return fmt.Sprintf("%s %s (lock %d, value %d)", op.hold, op.kind, op.hold.Lock, op.value)
}

// lockOperations returns the operations of a lock in the order of their calls.
func (h *history) lockOperations(lock int, granted []*hold) (ops []operation) {
	for _, o := range granted {
		o.mayEnd = o.earliestEnd()
		ops = append(ops, operation{acquired, o, 0, span{o.at(asked), o.at(acquired)}})
		if o.at(unlocked) > 0 {
			ops = append(ops, operation{unlocked, o, 0, span{o.at(unlocking), o.at(unlocked)}})
		}
	}
	for _, l := range h.losses {
		if l.lock == lock || l.lock == everyLock {
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
			var history []porcupine.Operation
			for _, op := range ops {
				history = append(history, porcupine.Operation{Input: op, Call: int64(op.from), Return: int64(op.to)})
			}
			operations += len(history)
			switch porcupine.CheckOperationsTimeout(model, history, checkTime) {
			case porcupine.Unknown:
				undecided++
			case porcupine.Illegal:
				h.explain(kind, history)
			}
		}
	}
	return operations, undecided
}

// explain reports the operation that does not fit: the first to return among those that are not in
// the longest partial linearization.
func (h *history) explain(kind string, ops []porcupine.Operation) {
	_, info := porcupine.CheckOperationsVerbose(model, ops, checkTime)
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	ops = slices.DeleteFunc(ops, func(op porcupine.Operation) bool {
		return slices.ContainsFunc(longest, func(o porcupine.Operation) bool { return o.Input == op.Input })
	})
	wrong := slices.MinFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) }).Input.(operation)
	text, of := wrong.String(), []*hold{wrong.hold}
	if n := len(longest); n > 0 {
		last := longest[n-1].Input.(operation)
		text, of = fmt.Sprintf("%s, which cannot be after: %s", wrong, last), append(of, last.hold)
	}
	h.addViolation(kind, text, of...)
}

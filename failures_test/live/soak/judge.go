package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The ways in which a lock can break its word, in the order of the report.
const (
	lostUpdate      = "lost updates"
	overlap         = "overlaps of believed holds"
	nonLinearizable = "non-linearizable histories"
	unserved        = "unserved waiters"
	leakedKey       = "leaked keys"
	deadWorker      = "workers that ended by themselves"
)

var violationKinds = []string{lostUpdate, overlap, nonLinearizable, unserved, leakedKey, deadWorker}

// violation is one of them, and the holds that it is about.
type violation struct {
	kind, text string
	of         []*hold
}

// judge finds what was wrong in a history that is complete, and was not seen at
// once.
func (h *history) judge() (checked linearizability) {
	for lock := range h.Locks {
		granted := h.granted(lock)
		h.overlaps(granted)
		h.waits(lock, granted)
		h.linearize(lock, granted, &checked)
	}
	return checked
}

// overlaps finds two who both believed that they held the lock. What a process did
// not notice while it stood still does not count, nor what it noticed a moment too
// late; and whose hold was taken away, by force or by a server that forgot it, may
// believe in it for one more lease.
func (h *history) overlaps(granted []*hold) {
	for i, a := range granted {
		sure := h.sureUntil(a)
		for _, b := range granted[i+1:] {
			from, to := b.at(holds), min(sure, h.sureUntil(b)+h.slack())
			if from >= sure {
				break
			}
			for _, l := range h.lossesOf(a) {
				if l.from <= to {
					from = max(from, l.to+h.Lease)
				}
			}
			if to > from {
				h.convict(overlap, fmt.Sprintf("%s and %s both held lock %d, for %v at least", a, b, a.Lock, (to-from).Round(time.Millisecond)), a, b)
			}
		}
	}
}

// waits finds who waited though nobody held the lock, and nothing was disturbed, for
// longer than a hold of unknown outcome can block it.
func (h *history) waits(lock int, granted []*hold) {
	for _, o := range h.holds {
		from, to := o.at(asks), min(cmp.Or(o.at(holds), o.at(refused), o.by.last), h.until)
		if o.Lock != lock || to-from <= h.longestWait() {
			continue
		}
		for _, other := range granted {
			if other.at(holds) < to && other.at(freed) > 0 {
				from = max(from, other.over())
			} else if other.at(holds) < to {
				from = max(from, other.over()+h.Lease) // for which Redis may keep it
			}
		}
		for _, f := range h.faults {
			if f.from < to {
				from = max(from, f.to+2*h.Lease)
			}
		}
		if to-from > h.longestWait() {
			h.convict(unserved, fmt.Sprintf("%s waited for lock %d, free since %v, until %v", o, lock, from, to), o)
		}
	}
}

// timeline tells what happened to some holds, and which faults there were at the
// time.
func (h *history) timeline(of []*hold) string {
	var lines []string
	add := func(at moment, who any, what ...any) {
		lines = append(lines, fmt.Sprintf("      %11.6f s  %-8v %s", at.Seconds(), who, fmt.Sprintln(what...)))
	}
	all := span{never, 0}
	for _, o := range of {
		for _, e := range o.events {
			add(e.At, o, e.Kind, e.Text)
		}
		all = span{min(all.from, cmp.Or(o.at(holds), o.at(asks))), max(all.to, o.over())}
	}
	for _, f := range h.faults {
		if f.from <= all.to && f.to >= all.from {
			add(f.from, f.target, "fault:", f.kind, "until", f.to.Round(time.Millisecond))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// examples is how many violations of a kind are told at length.
const examples = 3

// report is what a run found, as it is printed.
func (r *run) report() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	tally := func(of map[string]int) {
		for _, kind := range slices.Sorted(maps.Keys(of)) {
			say("  %6d  %s", of[kind], kind)
		}
	}
	say("\nwhat the workers did in %.1f s", r.until.Seconds())
	tally(r.counts)
	faults, found, violations := map[string]int{}, map[string][]violation{}, map[string]int{}
	for _, f := range r.faults {
		faults[f.kind]++
	}
	for _, v := range r.violations {
		found[v.kind] = append(found[v.kind], v)
	}
	for _, kind := range violationKinds {
		violations[kind] = len(found[kind])
	}
	say("\nfaults")
	tally(faults)
	say("\nhistory: %d operations of %d locks, checked by porcupine in %d pieces: %d not linearizable, %d not decided within %v",
		r.checked.operations, r.Locks, r.checked.pieces, len(found[nonLinearizable]), r.checked.unknown, checkTime)
	say("\nviolations")
	tally(violations)
	for _, kind := range violationKinds {
		for i, v := range found[kind][:min(examples, len(found[kind]))] {
			say("\n%s, %d of %d\n  %s\n%s", kind, i+1, len(found[kind]), v.text, r.timeline(v.of))
		}
	}
	switch {
	case len(r.violations) == 0:
		say("\nNone was seen in %.1f s with seed %d. That is no proof.", r.until.Seconds(), r.Seed)
	case r.Lock == finalLock && r.Unfenced && len(found[lostUpdate]) == len(r.violations):
		say("\nExpected: this ledger looks at no token, and a holder that stood still, or did not look, wrote after its\n" +
			"hold had been lost. No lock with a lease can prevent that; the fenced ledger refuses it.")
	default:
		say("\nThe lock broke its word. The same faults again: --seed %d", r.Seed)
	}
	return b.String()
}

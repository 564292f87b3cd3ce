//go:build unix

package main

import (
	"fmt"
	"strings"
	"time"
)

// report is what a run found.
type report struct {
	settings
	lasted     time.Duration
	counts     map[string]int
	faults     map[string]int
	holds      holdCounts
	accounts   []account
	model      linearizability
	violations []violation
}

// holdCounts says what became of the holds.
type holdCounts struct {
	forced, told, atUnlock, died int
}

func (r *run) report(leaked []violation) report {
	h, j := r.history, r.judgement()
	h.mu.Lock()
	defer h.mu.Unlock()
	rep := report{
		settings: r.settings, lasted: r.end, counts: h.counts, faults: map[string]int{},
		accounts: r.ledger.accounts, model: h.linearize(r.Locks, j.lease, j.slack),
	}
	for _, f := range h.faults {
		rep.faults[f.kind]++
	}
	for _, o := range h.holds {
		rep.holds.count(o)
	}
	for _, f := range h.forced {
		if f.freed {
			rep.holds.forced++
		}
	}
	rep.violations = append(h.judge(j), leaked...)
	for _, i := range rep.model.illegal {
		var of []int64
		for _, id := range []int64{i.before.holder, i.culprit.hold} {
			if h.holds[id] != nil {
				of = append(of, id)
			}
		}
		rep.violations = append(rep.violations, violation{nonLinearizable, fmt.Sprintf("lock %d: %s\n%s", i.lock, i.said(h), h.timeline(i.lock, of))})
	}
	return rep
}

func (c *holdCounts) count(o *hold) {
	switch {
	case !o.got:
	case o.unlocked == 0:
		c.died++
	case o.lost > 0:
		c.told++
	case o.became == gone:
		c.atUnlock++
	}
}

// examples is how many violations of a kind are told at length.
const examples = 3

// String is the report as it is printed.
func (r report) String() string {
	var b strings.Builder
	c := r.counts
	fmt.Fprintf(&b, "\noperations in %.1f s\n", r.lasted.Seconds())
	fmt.Fprintf(&b, "  acquires      %6d  got %d, refused or out of patience %d, failed %d\n", c[asks], c[holds], c[refused], c[failed])
	fmt.Fprintf(&b, "  re-entries    %6d\n", c[reenters])
	fmt.Fprintf(&b, "  unlocks       %6d  freed %d, gone %d, unknown %d\n", c[unlocks], c[freed], c[gone], c[unknown])
	fmt.Fprintf(&b, "  holds lost    %6d  told while at work %d, told by their unlock %d; %d ended with their process, %d were forced\n",
		r.holds.told+r.holds.atUnlock, r.holds.told, r.holds.atUnlock, r.holds.died, r.holds.forced)
	accepted, refusedBy, value := 0, 0, int64(0)
	for _, a := range r.accounts {
		accepted, refusedBy, value = accepted+len(a.history), refusedBy+a.refused, value+a.value
	}
	fmt.Fprintf(&b, "  ledger        %6d  writes accepted, %d reads and writes refused; the counters add up to %d\n", accepted, refusedBy, value)
	fmt.Fprintln(&b, "\nfaults")
	for _, k := range append(append(append([]faultKind{}, workerFaults...), serverFaults...), forceFault) {
		if n := r.faults[k.name]; n > 0 {
			fmt.Fprintf(&b, "  %4d  %s\n", n, k.name)
		}
	}
	m := r.model
	fmt.Fprintf(&b, "\nhistory: %d operations of %d locks, checked by porcupine in %d pieces: %d not linearizable", m.operations, m.locks, m.pieces, len(m.illegal))
	if m.unknown > 0 {
		fmt.Fprintf(&b, ", %d unknown: not decided within %v", m.unknown, checkTime)
	}
	fmt.Fprint(&b, "\n\nviolations\n")
	r.writeViolations(&b)
	return b.String()
}

func (r report) writeViolations(b *strings.Builder) {
	by := map[violationKind][]string{}
	for _, v := range r.violations {
		by[v.kind] = append(by[v.kind], v.text)
	}
	for _, kind := range violationKinds {
		fmt.Fprintf(b, "  %6d  %s\n", len(by[kind]), kind)
	}
	for _, kind := range violationKinds {
		texts := by[kind]
		if len(texts) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s, %d of %d\n", kind, min(examples, len(texts)), len(texts))
		for _, text := range texts[:min(examples, len(texts))] {
			fmt.Fprintf(b, "  %s\n", text)
		}
	}
	switch {
	case len(r.violations) == 0:
		fmt.Fprintf(b, "\nNone was seen in %.1f s with seed %d. That is no proof.\n", r.lasted.Seconds(), r.Seed)
	case isFinal(r.Lock) && r.Unfenced && len(by[lostUpdate]) == len(r.violations):
		fmt.Fprintf(b, "\nExpected: this ledger looks at no token, and a holder who stood still, or did not look, wrote after its\n"+
			"hold had been lost. No lock with a lease can prevent that; the fenced ledger refuses it.\n")
	default:
		fmt.Fprintf(b, "\nThe lock broke its word. The same faults again: --seed %d\n", r.Seed)
	}
}

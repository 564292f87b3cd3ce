//go:build unix

package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// history is what the run knows of its processes and their holds.
type history struct {
	mu        sync.Mutex
	processes map[int64]*process
	holds     map[int64]*hold // also those that were never got: see got
	faults    []fault
	forced    []forcing
	forgotten []span // the server came back without its data
	notes     []note // what was wrong at once, before any judgement
	counts    map[string]int
}

// process is one worker process, as the others see it.
type process struct {
	id     int64
	name   string
	last   moment // its last sign of life
	stalls []span // when it stood still
}

// hold is one acquire and what came of it. Moments that never came are 0.
type hold struct {
	id          int64
	lock        int
	by          *process
	lane        int
	fixed       bool // it is not renewed
	asked       moment
	answered    moment // asked and answered: the wait
	got         bool
	token       int64
	lost        moment // it was told
	unlocking   moment
	unlocked    moment
	became      string // by the unlock: freed, gone, unknown, or "" if it was never answered
	turnedAway  bool   // by the ledger, which had seen a newer token
	read, wrote moment // by the ledger's clock
}

// forcing is a ForceUnlock of a lock. freed is false where it says that nobody
// held it.
type forcing struct {
	span
	lock    int
	freed   bool
	unknown bool
}

// note is a violation that was seen as it happened.
type note struct {
	kind violationKind
	lock int
	at   moment
	text string
	of   []int64 // holds
}

func newHistory() *history {
	return &history{processes: map[int64]*process{}, holds: map[int64]*hold{}, counts: map[string]int{}}
}

// begin adds a process.
func (h *history) begin(id int64, name string, at moment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.processes[id] = &process{id: id, name: name, last: at}
}

// stalled says that the process was stopped from outside.
func (h *history) stalled(id int64, s span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.processes[id]
	p.stalls = append(p.stalls, s)
}

// take records a message, with the ledger's answer if it asked for one.
func (h *history) take(by int64, m message, l *ledger, now moment) (reply, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.processes[by]
	p.last = max(p.last, m.At)
	h.counts[m.Kind]++
	if m.Kind == stood {
		p.stalls = append(p.stalls, span{m.Since, m.At})
		return reply{}, false
	}
	if m.Kind == asks {
		h.holds[m.Hold] = &hold{id: m.Hold, lock: m.Lock, by: p, lane: m.Lane, fixed: m.How == fixedLease, asked: m.At}
		return reply{}, false
	}
	o := h.holds[m.Hold]
	switch m.Kind {
	case holds:
		o.got, o.answered, o.token = true, m.At, m.Token
	case refused, failed:
		o.answered = m.At
	case lost:
		o.lost = m.At
	case reenters:
		if m.Text != "" {
			h.notes = append(h.notes, note{wrongReentry, o.lock, m.At, m.Text, []int64{o.id}})
		}
	case unlocks:
		o.unlocking = m.At
	case unlocked:
		o.unlocked, o.became = m.At, m.How
		h.counts[m.How]++
	case reads:
		value, ok := l.read(o.lock, o.id, m.Token, now)
		o.read, o.turnedAway = now, !ok
		return reply{Hold: o.id, OK: ok, Value: value, late: l.takeDelay(o.lock)}, true
	case writes:
		return reply{Hold: o.id, OK: h.write(o, m, l, now)}, true
	}
	return reply{}, false
}

func (h *history) write(o *hold, m message, l *ledger, now moment) bool {
	ok, under := l.write(o.lock, o.id, m.Token, m.Value, now)
	if !ok {
		o.turnedAway = true
		return false
	}
	o.wrote = now
	if len(under) > 0 {
		of := []int64{o.id}
		for _, e := range under[max(0, len(under)-2):] {
			of = append(of, e.hold)
		}
		text := fmt.Sprintf("%s wrote %d over what %d others had written since it read", o, m.Value, len(under))
		if len(under) == 1 {
			text = fmt.Sprintf("%s wrote %d over what another had written since it read", o, m.Value)
		}
		h.notes = append(h.notes, note{lostUpdate, o.lock, now, text, of})
	}
	return true
}

// String names the hold by who has it.
func (o *hold) String() string { return fmt.Sprintf("%s.%d", o.by.name, o.lane) }

// granted are the holds of a lock, in the order in which they were got.
func (h *history) granted(lock int) []*hold {
	var got []*hold
	for _, o := range h.holds {
		if o.lock == lock && o.got {
			got = append(got, o)
		}
	}
	slices.SortFunc(got, func(a, b *hold) int { return int(a.answered - b.answered) })
	return got
}

// ended is when its owner no longer believed that it held the lock.
func (o *hold) ended() moment {
	end := o.by.last // where neither comes it was killed
	if o.unlocking > 0 {
		end = o.unlocking
	}
	if o.lost > 0 {
		end = min(end, o.lost)
	}
	return max(end, o.answered)
}

// over is when the hold's own commands had ended: what is later is none of its.
func (o *hold) over() moment {
	if o.unlocked > 0 {
		return o.unlocked
	}
	return max(o.by.last, o.ended())
}

// disturbed are the times when holds were taken away from the lock by force or by
// a server that came back without its data, while this hold was under way, in order.
func (h *history) disturbed(o *hold, slack moment) []span {
	var by []span
	for _, f := range h.forced {
		if f.lock == o.lock && (f.freed || f.unknown) {
			by = append(by, f.span)
		}
	}
	by = append(by, h.forgotten...)
	slices.SortFunc(by, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	begun := h.begun(o, slack)
	return slices.DeleteFunc(by, func(s span) bool { return s.to < begun || s.from > o.over() })
}

// begun is when Redis granted the hold at the earliest: its answer takes a moment,
// or longer while there is a fault.
func (h *history) begun(o *hold, slack moment) moment {
	at := o.answered - slack
	for moved := true; moved; {
		moved = false
		for _, s := range append(h.troubles(), o.by.stalls...) {
			if s.from-slack < at && at <= s.to {
				at, moved = s.from-slack, true
			}
		}
	}
	return max(at, o.asked)
}

// troubles are the faults that can hold up an answer.
func (h *history) troubles() []span {
	var all []span
	for _, f := range h.faults {
		if f.kind != forceFault.name {
			all = append(all, f.span)
		}
	}
	return all
}

// sureUntil is until when a lock that keeps its word had a lease for this hold: its
// owner was not told of a loss, and had had the processor to be told. Where its
// process stood still shortly before the end of its belief, only the time before
// counts.
func (o *hold) sureUntil(slack moment) moment {
	at := o.ended() - slack
	for moved := true; moved; {
		moved = false
		for _, s := range o.by.stalls {
			if s.from-slack < at && at <= s.to {
				at, moved = s.from-slack, true
			}
		}
	}
	return at
}

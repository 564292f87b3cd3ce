package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// moment is a time of the run: how long after its beginning. All processes of the
// run read the same clock, so moments of different processes can be compared.
type moment = time.Duration

// never is later than all others.
const never = moment(1<<63 - 1)

// clock is when the run began.
type clock moment

func (c clock) now() moment { return monotonic() - moment(c) }

// span is a stretch of time, both ends included.
type span struct{ from, to moment }

// history is what the run knows of its processes and their holds.
type history struct {
	settings

	mu         sync.Mutex
	holds      map[int64]*hold // also those that were never got
	faults     []fault
	losses     []loss
	counts     map[string]int
	violations []violation
	until      moment // when the workers were told to end
}

// hold is one acquire and what came of it.
type hold struct {
	event  // that it was asked for
	by     *process
	events []event
	mayEnd moment // when its lease may be over, for all that the model knows
}

// at is when a hold had an event of that kind, 0 if it had none.
func (o *hold) at(kind string) moment {
	for _, e := range o.events {
		if e.Kind == kind {
			return e.At
		}
	}
	return 0
}

// loss is when the holds of a lock, or of all, were taken away.
type loss struct {
	span
	lock int // or every
}

// every says that a loss is one of all locks.
const every = -1

// take records an event.
func (h *history) take(by *process, e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	by.last = max(by.last, e.At)
	h.counts[e.Kind]++
	switch e.Kind {
	case stood:
		by.stalls = append(by.stalls, span{e.Since, e.At})
		return
	case asks:
		h.holds[e.Hold] = &hold{event: e, by: by}
	}
	o := h.holds[e.Hold]
	o.events = append(o.events, e)
	o.Token = max(o.Token, e.Token)
	if e.Undone > 0 {
		h.convict(lostUpdate, fmt.Sprintf("%s wrote to account %d, and undid %d writes since it read", o, o.Lock, e.Undone), o)
	}
}

// convict notes a violation, and the holds that it is about. mu is held, or the run
// is over.
func (h *history) convict(kind string, text string, of ...*hold) {
	h.violations = append(h.violations, violation{kind, text, of})
}

// String names the hold by who has it.
func (o *hold) String() string {
	if o == nil {
		return "nobody"
	}
	return fmt.Sprintf("%s.%d", o.by.name, o.Lane)
}

// ended is when its owner no longer believed that it held the lock: when it was
// told, or unlocked, or was killed.
func (o *hold) ended() moment {
	end := cmp.Or(o.at(unlocks), o.by.last)
	if o.at(lost) > 0 {
		end = min(end, o.at(lost))
	}
	return max(end, o.at(holds))
}

// over is when the hold's own commands had ended: what is later is none of its.
func (o *hold) over() moment {
	return max(cmp.Or(o.at(freed), o.at(gone), o.at(unknown), o.by.last), o.ended())
}

// granted are the holds of a lock, in the order in which they were got.
func (h *history) granted(lock int) []*hold {
	var got []*hold
	for _, o := range h.holds {
		if o.Lock == lock && o.at(holds) > 0 {
			got = append(got, o)
		}
	}
	slices.SortFunc(got, func(a, b *hold) int { return cmp.Compare(a.at(holds), b.at(holds)) })
	return got
}

// lossesOf are the losses while the hold was waited for or under way.
func (h *history) lossesOf(o *hold) (of []loss) {
	for _, l := range h.losses {
		if (l.lock == o.Lock || l.lock == every) && l.to >= o.at(asks) && l.from <= o.over() {
			of = append(of, l)
		}
	}
	return of
}

// sureUntil is until when a lock that keeps its word had a lease for this hold: its
// owner was not told of a loss, and had had the processor to be told. Where its
// process stood still shortly before the end of its belief, only the time before
// counts.
func (h *history) sureUntil(o *hold) moment {
	at := o.ended() - h.slack()
	for moved := true; moved; {
		moved = false
		for _, s := range o.by.stalls {
			if s.from-h.slack() < at && at <= s.to {
				at, moved = s.from-h.slack(), true
			}
		}
	}
	return at
}

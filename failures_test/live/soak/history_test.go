//go:build live && unix

package soak

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// All times of a run are relative to its start, on the machine's monotonic clock. All processes
// share that clock, so their times can be compared.

// clock is the start of a run.
type clock time.Duration

func (c clock) now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Unix has it
	}
	return time.Duration(t.Nano()) - time.Duration(c)
}

// span is a period of time, both ends included.
type span struct{ from, to time.Duration }

// The kinds of events. A worker reports each event before it continues, so that none is missing if
// it is killed.
const (
	asked     = "asked for the lock"         // before the call
	acquired  = "acquired the lock"          // after the call
	refused   = "did not get the lock"       // after the call
	lost      = "was told that it lost it"   // the hold's context ended
	read      = "read the ledger"            // Value: the counter
	wrote     = "wrote the ledger"           // Value: the new counter
	rejected  = "was rejected by the ledger" // its token is stale
	reentered = "re-entered the lock"
	unlocking = "unlocks"                // before the call
	unlocked  = "unlocked"               // after the call, which returned nil
	notHeld   = "had lost it before"     // after the call, which returned ErrLost
	unclear   = "unlocked with an error" // after the call, which may have unlocked
)

// event is a report of a worker.
type event struct {
	Kind  string
	At    time.Duration
	Late  time.Duration // how late the timers of the process were shortly before
	Since time.Duration // when the request to the ledger began
	Hold  int64         // the ID of the attempt to acquire, and of the hold
	Lock  int
	Lane  int // the worker's goroutine
	Token int64
	Value int64
	Text  string
}

// hold is one attempt to acquire the lock, and the hold if it succeeded.
type hold struct {
	event  // its first event
	by     *process
	events []event
	mayEnd time.Duration // the earliest end of its lease; see earliestEnd
}

// first returns the first event of that kind, or none.
func (o *hold) first(kind string) event {
	for _, e := range o.events {
		if e.Kind == kind {
			return e
		}
	}
	return event{}
}

// at returns the time of the first event of that kind, or 0.
func (o *hold) at(kind string) time.Duration { return o.first(kind).At }

// String returns the holder: process and goroutine.
func (o *hold) String() string {
	return fmt.Sprintf("%s.%d", o.by.name, o.Lane)
}

// end returns the event with which the holder stopped believing that it holds the lock: it learned
// of a loss or began to unlock. For a killed process it is the last event.
func (o *hold) end() event {
	end := cmp.Or(o.first(unlocking), o.by.last)
	if e := o.first(lost); e.At > 0 && e.At < end.At {
		return e
	}
	return end
}

// over returns when the hold's last command had ended.
func (o *hold) over() time.Duration {
	return max(cmp.Or(o.at(unlocked), o.at(notHeld), o.at(unclear), o.by.last.At), o.end().At)
}

// meets reports whether it overlaps the time of the hold.
func (s span) meets(o *hold) bool { return s.from <= o.over() && s.to >= o.at(asked) }

// loss is a time when holds were removed by others than their owners: by ForceUnlock, or because
// the server lost its data.
type loss struct {
	span
	lock int // or everyLock
}

const everyLock = -1

// hits reports whether holds of a lock may have been removed.
func (l loss) hits(lock int) bool { return l.lock == lock || l.lock == everyLock }

// violation is one finding and its holds.
type violation struct {
	kind, text string
	of         []*hold
}

// The kinds of violations.
const (
	lockIllegal   = "the lock is not linearizable"
	ledgerIllegal = "the ledger is not linearizable"
	unserved      = "a waiter did not get a free lock"
	leakedKey     = "a key is left"
	deadWorker    = "a worker ended by itself"
)

// history is what the driver knows about its workers and their holds.
type history struct {
	mu         sync.Mutex
	holds      map[int64]*hold
	faults     []fault
	losses     []loss
	counts     map[string]int // of events
	violations []violation
	until      time.Duration // when the workers were told to finish
}

// add records an event.
func (h *history) add(by *process, e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.At > by.last.At {
		by.last = e
	}
	h.counts[e.Kind]++
	if e.Kind == asked {
		h.holds[e.Hold] = &hold{event: e, by: by}
	}
	o := h.holds[e.Hold]
	o.events = append(o.events, e)
	o.Token = max(o.Token, e.Token)
}

func (h *history) addViolation(kind, text string, of ...*hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.violations = append(h.violations, violation{kind, text, of})
}

// granted returns the holds of a lock in the order of their tokens, or in which they were reported.
func (h *history) granted(lock int) []*hold {
	var got []*hold
	for _, o := range h.holds {
		if o.Lock == lock && o.at(acquired) > 0 {
			got = append(got, o)
		}
	}
	slices.SortFunc(got, func(a, b *hold) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.at(acquired), b.at(acquired)))
	})
	return got
}

// longestWait is how long a waiter may wait for a free lock: as long as a hold of unknown outcome
// can block it, and some time for
// a server and other processes on a busy machine.
const longestWait = 2*lease + 500*time.Millisecond

// checkWaits reports waiters that did not get a free lock although there was no fault.
func (h *history) checkWaits(lock int, granted []*hold) {
	for _, o := range h.holds {
		end := cmp.Or(o.first(acquired), o.first(refused), o.by.last)
		from, to, longest := o.at(asked), min(end.At, h.until), longestWait+end.Late
		if o.Lock != lock || to-from <= longest {
			continue
		}
		for _, other := range granted {
			if other.at(acquired) < to && other.at(unlocked) > 0 {
				from = max(from, other.over())
			} else if other.at(acquired) < to {
				from = max(from, other.over()+lease) // Redis may keep its key that long
			}
		}
		for _, f := range h.faults {
			if f.from < to {
				from = max(from, f.to+2*lease)
			}
		}
		if to-from > longest {
			h.addViolation(unserved, fmt.Sprintf("%s waited for lock %d, free since %v, until %v", o, lock, from, to), o)
		}
	}
}

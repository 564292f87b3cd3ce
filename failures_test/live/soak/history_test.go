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
	unlocking = "unlocks"                  // before the call
	unlocked  = "unlocked"                 // after the call, which returned nil
	notHeld   = "had lost it before"       // after the call, which returned ErrLost
	unclear   = "unlocked with an error"   // after the call, which may have unlocked
	stalled   = "did not run for a moment" // the whole process
)

// event is a report of a worker.
type event struct {
	Kind  string
	At    time.Duration
	Since time.Duration // when the request to the ledger, or the stall, began
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

// at returns the time of the first event of that kind, or 0.
func (o *hold) at(kind string) time.Duration {
	for _, e := range o.events {
		if e.Kind == kind {
			return e.At
		}
	}
	return 0
}

// String returns the holder: process and goroutine.
func (o *hold) String() string {
	return fmt.Sprintf("%s.%d", o.by.name, o.Lane)
}

// ended returns when the holder stopped believing that it holds the lock: it learned of a loss,
// began to unlock, or was killed.
func (o *hold) ended() time.Duration {
	end := cmp.Or(o.at(unlocking), o.by.last)
	if o.at(lost) > 0 {
		end = min(end, o.at(lost))
	}
	return max(end, o.at(acquired))
}

// over returns when the hold's last command had ended.
func (o *hold) over() time.Duration {
	return max(cmp.Or(o.at(unlocked), o.at(notHeld), o.at(unclear), o.by.last), o.ended())
}

// loss is a time when holds were removed by others than their owners: by ForceUnlock, or because
// the server lost its data.
type loss struct {
	span
	lock int // or everyLock
}

const everyLock = -1

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
	by.last = max(by.last, e.At)
	h.counts[e.Kind]++
	switch e.Kind {
	case stalled:
		by.stalls = append(by.stalls, span{e.Since, e.At})
		return
	case asked:
		h.holds[e.Hold] = &hold{event: e, by: by}
	}
	o := h.holds[e.Hold]
	o.events = append(o.events, e)
	o.Token = max(o.Token, e.Token)
}

func (h *history) addViolation(kind, text string, of ...*hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.violations = append(h.violations, violation{kind, text, slices.DeleteFunc(of, func(o *hold) bool { return o == nil })})
}

// granted returns the holds of a lock in the order in which they were acquired.
func (h *history) granted(lock int) []*hold {
	var got []*hold
	for _, o := range h.holds {
		if o.Lock == lock && o.at(acquired) > 0 {
			got = append(got, o)
		}
	}
	slices.SortFunc(got, func(a, b *hold) int { return cmp.Compare(a.at(acquired), b.at(acquired)) })
	return got
}

// slack is the time within which a running process notices that a lease has ended.
const slack = lease / 5

// sureUntil returns until when the holder must have had a lease: it had not learned of a loss, and
// its process was running. If the process stalled shortly before the hold ended, only the time
// before the stall counts.
func (o *hold) sureUntil() time.Duration {
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

// longestWait is how long a waiter may wait for a free lock: as long as a hold of unknown outcome
// can block it, and some time for a busy machine.
const longestWait = 2*lease + 500*time.Millisecond

// checkWaits reports waiters that did not get a free lock although there was no fault.
func (h *history) checkWaits(lock int, granted []*hold) {
	for _, o := range h.holds {
		from, to := o.at(asked), min(cmp.Or(o.at(acquired), o.at(refused), o.by.last), h.until)
		if o.Lock != lock || to-from <= longestWait {
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
		if to-from > longestWait {
			h.addViolation(unserved, fmt.Sprintf("%s waited for lock %d, free since %v, until %v", o, lock, from, to), o)
		}
	}
}

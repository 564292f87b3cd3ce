//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// moment is a time of the run: how long after its beginning. All processes of the
// run read the same clock, so moments of different processes can be compared.
type moment = time.Duration

// span is a stretch of time, both ends included.
type span struct{ from, to moment }

// clock counts from the beginning of the run, on the machine's monotonic clock: one
// that all its processes share and that nobody sets.
type clock struct{ Origin int64 }

func newClock() clock { return clock{monotonic()} }

func (c clock) now() moment { return moment(monotonic() - c.Origin) }

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // there is no system without it
	}
	return t.Nano()
}

// The kinds of message that a worker sends, one JSON object a line. It sends each
// before it goes on, so that what it did is known also when it is killed.
const (
	asks     = "asks"     // for a lock; at: before the call
	holds    = "holds"    // the answer: it has got it; at: after the call
	refused  = "refused"  // the answer: somebody else holds it, or the wait was over
	failed   = "failed"   // the answer: an error
	lost     = "lost"     // it is told that the hold is lost
	reads    = "reads"    // from the ledger, which answers
	writes   = "writes"   // to the ledger, which answers
	reenters = "reenters" // it took the lock once more; text: what was wrong with that
	unlocks  = "unlocks"  // at: before the call
	unlocked = "unlocked" // the answer: freed, gone or unknown; at: after the call
	stood    = "stood"    // the process got no time from since to at
)

// fixedLease says how an acquire asks: for a lease that is not renewed.
const fixedLease = "fixed"

// What became of an unlock.
const (
	freed   = "freed"   // the lock was freed by it
	gone    = "gone"    // the hold was lost before
	unknown = "unknown" // an error that says neither
)

// message is what a worker tells the driver.
type message struct {
	Kind  string `json:"k"`
	At    moment `json:"at"`
	Since moment `json:"since,omitempty"`
	Hold  int64  `json:"hold,omitempty"` // which acquire, and the hold that came of it
	Lock  int    `json:"lock,omitempty"`
	Lane  int    `json:"lane,omitempty"` // the worker's goroutine
	Token int64  `json:"token,omitempty"`
	Value int64  `json:"value,omitempty"`
	How   string `json:"how,omitempty"`
	Text  string `json:"text,omitempty"`
}

// reply is what the driver tells a worker: the ledger's answer, or to end.
type reply struct {
	Hold  int64 `json:"hold,omitempty"`
	OK    bool  `json:"ok,omitempty"`
	Value int64 `json:"value,omitempty"`
	End   bool  `json:"end,omitempty"`

	late time.Duration // how late it is sent
}

// orders are what a worker process is started with.
type orders struct {
	Clock      clock
	Process    int    // its number among all that there have been
	Socket     string // where it finds Redis
	Lock       string
	Locks      int
	Goroutines int
	Lease      time.Duration
	Seed       uint64
}

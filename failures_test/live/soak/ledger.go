//go:build unix

package main

import (
	"sync"
	"time"
)

// ledger is the resource that the locks guard: a counter for each. It lives in the
// driver, so that a fault of Redis is none of its own.
//
// A fenced ledger refuses a token lower than the highest it has seen, and an equal
// one of another hold, for reads as for writes. Reads must count: else a holder
// that is over could still write, with its old token, between the next holder's
// read and first write, and the next holder's write would undo it.
type ledger struct {
	fenced bool

	mu       sync.Mutex
	accounts []account
	sections map[int64]section // by hold: those that have read and not yet written
	trap     func(process int64)
	slow     map[int]time.Duration // how late the next read of a lock is answered
}

// account is one counter.
type account struct {
	value   int64
	history []entry // accepted writes, in order
	refused int
	highest int64 // the highest token seen
	holder  int64 // who brought it
}

// entry is an accepted write.
type entry struct {
	hold int64
	at   moment
}

// section is a hold that has read a counter.
type section struct {
	lock   int
	writes int // that the account had taken by then
	at     moment
}

func newLedger(locks int, fenced bool) *ledger {
	return &ledger{fenced: fenced, accounts: make([]account, locks), sections: map[int64]section{}, slow: map[int]time.Duration{}}
}

// read answers a hold's read of the counter. ok is false where it is refused.
func (l *ledger) read(lock int, hold, token int64, at moment) (value int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.accounts[lock]
	if !l.admit(a, hold, token) {
		return 0, false
	}
	l.sections[hold] = section{lock, len(a.history), at}
	if trap := l.trap; trap != nil {
		l.trap = nil
		trap(hold >> 32)
	}
	return a.value, true
}

// write answers a hold's write. under is the writes that came between its read and
// it: they are undone, since it knows nothing of them.
func (l *ledger) write(lock int, hold, token, value int64, at moment) (ok bool, under []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.accounts[lock]
	began := l.sections[hold]
	delete(l.sections, hold)
	if !l.admit(a, hold, token) {
		return false, nil
	}
	under = a.history[began.writes:]
	a.value = value
	a.history = append(a.history, entry{hold, at})
	return true, under
}

// admit tells whether a token is as new as any seen.
func (l *ledger) admit(a *account, hold, token int64) bool {
	if !l.fenced {
		return true
	}
	if token < a.highest || token == a.highest && hold != a.holder {
		a.refused++
		return false
	}
	a.highest, a.holder = token, hold
	return true
}

// onNextRead calls f with the process that reads next, before it is answered. It
// must not block.
func (l *ledger) onNextRead(f func(process int64)) {
	l.mu.Lock()
	l.trap = f
	l.mu.Unlock()
}

// delayNextRead makes the next section of a lock long: its read is answered late.
func (l *ledger) delayNextRead(lock int, d time.Duration) {
	l.mu.Lock()
	l.slow[lock] = d
	l.mu.Unlock()
}

// takeDelay is how late the read that was just made is to be answered.
func (l *ledger) takeDelay(lock int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer delete(l.slow, lock)
	return l.slow[lock]
}

// longSection finds a lock whose newest section has been under way since a moment
// or longer.
func (l *ledger) longSection(since moment) (lock int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	newest := make([]moment, len(l.accounts))
	for _, s := range l.sections {
		newest[s.lock] = max(newest[s.lock], s.at)
	}
	for lock, at := range newest {
		if at > 0 && at <= since {
			return lock, true
		}
	}
	return 0, false
}

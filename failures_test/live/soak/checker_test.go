//go:build live && unix

package soak

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// handmade is a history of lock 0, with times in milliseconds. The lease is 500 ms.
type handmade struct{ *history }

func newHandmade() handmade {
	return handmade{&history{holds: map[int64]*hold{}, counts: map[string]int{}, until: time.Hour}}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// hold adds a hold of a new process, with a higher token than before. events alternates kinds and
// times.
func (h handmade) hold(askedAt, acquiredAt int, events ...any) *hold {
	id := int64(len(h.holds) + 1)
	by := &process{name: fmt.Sprint("w", id)}
	h.add(by, event{Kind: asked, At: ms(askedAt), Hold: id})
	h.add(by, event{Kind: acquired, At: ms(acquiredAt), Hold: id, Token: 10 * id})
	for i := 0; i < len(events); i += 2 {
		h.add(by, event{Kind: events[i].(string), At: ms(events[i+1].(int)), Hold: id})
	}
	by.ended = by.last.At
	return h.holds[id]
}

// use adds a request to the ledger.
func (h handmade) use(o *hold, kind string, from, to int, value int64) {
	h.add(o.by, event{Kind: kind, Since: ms(from), At: ms(to), Hold: o.Hold, Value: value})
	o.by.ended = o.by.last.At
}

// late sets how late the timers of the process were.
func (o *hold) late(n int) {
	for i := range o.events {
		o.events[i].Late = ms(n)
	}
	o.by.last.Late = ms(n)
}

func (h handmade) lose(lock, from, to int) {
	h.losses = append(h.losses, loss{span{ms(from), ms(to)}, lock})
}

func TestHistories(t *testing.T) {
	for name, c := range map[string]struct {
		want string // kind of the only violation; "" for none
		add  func(handmade)
	}{
		"one after the other": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 30)
			h.hold(5, 35, unlocking, 40, unlocked, 50)
		}},
		"an unlock that took effect before its answer": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 60)
			h.hold(5, 35, unlocking, 40, unlocked, 50)
		}},
		"expiry, then takeover": {"", func(h handmade) {
			h.hold(1, 10, lost, 500)
			h.hold(5, 505, unlocking, 510, unlocked, 520)
		}},
		"a late unlock that found the lock lost": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 2010, notHeld, 2020).late(1700)
			h.hold(5, 905, unlocking, 910, unlocked, 920)
		}},
		"an unlock with an error that worked": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20, unclear, 30)
			h.hold(5, 25, unlocking, 40, unlocked, 50)
		}},
		"an unlock that worked, with an answer after the lease": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20, notHeld, 1020)
			h.hold(5, 25, unlocking, 40, unlocked, 50)
		}},
		"a forced unlock": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 300, notHeld, 310)
			h.lose(0, 20, 30)
			h.hold(5, 35, unlocking, 40, unlocked, 50)
		}},
		"a server that restarted without its data": {"", func(h handmade) {
			h.hold(1, 10, lost, 300)
			h.lose(everyLock, 20, 30)
			h.hold(5, 35, unlocking, 40, unlocked, 50)
		}},
		"a removed hold that its owner believed in for another lease": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 550, notHeld, 560)
			h.lose(0, 20, 30)
			h.hold(35, 40, unlocking, 900, unlocked, 910)
		}},
		"a removed hold of a process with late timers": {"", func(h handmade) {
			h.hold(1, 10, lost, 730).late(180)
			h.lose(0, 20, 30)
			h.hold(35, 40, unlocking, 900, unlocked, 910)
		}},
		"a removed hold of a killed process with late timers": {"", func(h handmade) {
			h.hold(1, 10, reentered, 730).late(180)
			h.lose(0, 20, 30)
			h.hold(35, 40, unlocking, 900, unlocked, 910)
		}},
		"a holder that was killed during its unlock": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20)
			h.hold(5, 25, unlocking, 40, unlocked, 50)
		}},
		"a holder that was killed": {"", func(h handmade) {
			h.hold(1, 10, reentered, 20)
			h.hold(5, 505, unlocking, 510, unlocked, 520)
		}},
		"two holders at once": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 100, unlocked, 110)
			h.hold(20, 30, unlocking, 40, unlocked, 50)
		}},
		"an unlock that worked after another client took over": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 900, unlocked, 910)
			h.hold(5, 505, unlocking, 1000, unlocked, 1010)
		}},
		"a takeover before the lease ended": {lockIllegal, func(h handmade) {
			h.hold(1, 10, lost, 450)
			h.hold(5, 300, unlocking, 310, unlocked, 320)
		}},
		"a takeover without a report to the holder": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 2000, notHeld, 2010)
			h.hold(5, 900, unlocking, 910, unlocked, 920)
		}},
		"an unlock that worked and reported a lost lock": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 20, notHeld, 30)
			h.hold(5, 25, unlocking, 40, unlocked, 50)
		}},
		"a takeover from a killed holder before its lease ended": {lockIllegal, func(h handmade) {
			h.hold(1, 10, reentered, 20)
			h.hold(5, 300, unlocking, 310, unlocked, 320)
		}},
		"a token that does not rise": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 30)
			h.hold(35, 40, unlocking, 50, unlocked, 60).Token = 1
		}},
		"two holders at once, after a forced unlock of another": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 100, notHeld, 110)
			h.lose(0, 15, 20)
			h.hold(320, 322, unlocking, 500, unlocked, 510)
			h.hold(330, 340, unlocking, 420, unlocked, 430)
		}},
		"a removed hold that its owner believed in for longer": {lockIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 600, notHeld, 610)
			h.lose(0, 20, 30)
			h.hold(35, 40, unlocking, 900, unlocked, 910)
		}},
		"a removed hold that its owner believed in for longer than its timers were late": {lockIllegal, func(h handmade) {
			h.hold(1, 10, lost, 730).late(150)
			h.lose(0, 20, 30)
			h.hold(35, 40, unlocking, 900, unlocked, 910)
		}},
		"a waiter at a free lock": {unserved, func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 30)
			h.hold(15, 9000, unlocking, 9010, unlocked, 9020)
		}},
		"a waiter of a process with late timers": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 30)
			h.hold(15, 1800, unlocking, 1810, unlocked, 1820).late(300)
		}},
		"a waiter during a fault": {"", func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 30)
			h.hold(15, 3000, unlocking, 3010, unlocked, 3020)
			h.faults = []fault{{"stop the server", "redis", span{ms(500), ms(1500)}}}
		}},
		"a read that misses a write": {ledgerIllegal, func(h handmade) {
			a, b := h.hold(1, 10, lost, 510), h.hold(5, 550)
			h.use(a, read, 20, 30, 0)
			h.use(a, wrote, 40, 50, 1)
			h.use(b, read, 560, 570, 0)
		}},
		"an update that is lost, without fencing": {ledgerIllegal, func(h handmade) {
			a, b := h.hold(1, 10, lost, 510), h.hold(5, 550)
			a.Token, b.Token = 0, 0
			h.use(a, read, 20, 30, 0)
			h.use(b, read, 560, 570, 0)
			h.use(b, wrote, 580, 590, 1)
			h.use(a, wrote, 600, 610, 1)
		}},
		"a stale token that is rejected": {"", func(h handmade) {
			a, b := h.hold(1, 10, lost, 510), h.hold(5, 550)
			h.use(a, read, 20, 30, 0)
			h.use(b, read, 560, 570, 0)
			h.use(a, rejected, 600, 610, 0)
		}},
		"a stale token that is not rejected": {ledgerIllegal, func(h handmade) {
			a, b := h.hold(1, 10, lost, 510), h.hold(5, 550)
			h.use(a, read, 20, 30, 0)
			h.use(b, read, 560, 570, 0)
			h.use(a, wrote, 600, 610, 1)
		}},
		"a fresh token that is rejected": {ledgerIllegal, func(h handmade) {
			h.hold(1, 10, unlocking, 20, unlocked, 30)
			h.use(h.hold(35, 40), rejected, 50, 60, 0)
		}},
		"a killed worker that wrote": {"", func(h handmade) {
			h.use(h.hold(1, 10), read, 20, 30, 0)
			h.use(h.hold(5, 550), read, 560, 570, 1)
		}},
		"a killed worker that did not write": {"", func(h handmade) {
			h.use(h.hold(1, 10), read, 20, 30, 0)
			h.use(h.hold(5, 550), read, 560, 570, 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHandmade()
			c.add(h)
			h.check()
			if c.want == "" {
				require.Empty(t, h.violations)
				return
			}
			require.Len(t, h.violations, 1)
			require.Equal(t, c.want, h.violations[0].kind)
			require.Contains(t, h.timeline(h.violations[0].of), " s  w2.0    acquired the lock\n")
		})
	}
}

func TestViolationInALongHistoryIsFound(t *testing.T) {
	h := newHandmade()
	for i := range 2000 {
		h.hold(max(1, 10*i-200), 10*i+2, unlocking, 10*i+5, unlocked, 10*i+6)
	}
	h.check()
	require.Empty(t, h.violations)
	h.hold(9990, 10_003, unlocking, 10_004, unlocked, 10_005).Token = 10_011
	h.check()
	require.Len(t, h.violations, 1)
	require.InDelta(t, 10_000, h.violations[0].of[0].at(acquired).Milliseconds(), 100)
}

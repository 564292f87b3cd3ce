//go:build live && unix

package soak

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// explainOverlap reports the first two holds that cannot both be legal, whatever the others did, and
// returns false if there are none. It names the one that ended too late.
func (h *history) explainOverlap(lock int, granted []*hold) bool {
	for i, next := range granted {
		at := next.at(acquired)
		for _, o := range granted[:i] {
			until := cmp.Or(o.at(unlocked), o.mayEnd)
			mayOverlap := o.at(asked) < at && at < until
			if !mayOverlap || porcupine.CheckOperations(model, calls(h.lockOperations(lock, []*hold{o, next}))) {
				continue
			}
			_, why := o.earliestEnd()
			h.addViolation(lockIllegal, fmt.Sprintf("%s had lock %d until %v at least (%s), but %s acquired it by %v",
				o, lock, until, why, next, at), o, next)
			return true
		}
	}
	return false
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
	longest = slices.DeleteFunc(longest, func(op porcupine.Operation) bool { // they are always legal
		return slices.Contains([]string{removed, maybeRead, maybeWrote}, op.Input.(operation).kind)
	})
	if n := len(longest); n > 0 {
		last := longest[n-1].Input.(operation)
		text, of = fmt.Sprintf("%s, which cannot be after: %s", wrong, last), append(of, last.hold)
	}
	h.addViolation(kind, text, of...)
}

func TestViolationNamesTheHolder(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		of   []string // the first is the holder
		seen string   // in the timeline
		add  func(handmade)
	}{
		"after a forced unlock": {
			`w1.0 had lock 0 until 570ms at least ("unlocks" is from 700ms, with timers up to 105ms late), but w2.0 acquired it by 40ms`,
			[]string{"w1.0", "w2.0"}, "  w1.0    unlocks (timers up to 105ms late)\n", func(h handmade) {
				h.hold(1, 10, unlocking, 700, notHeld, 710).late(105)
				h.lose(0, 20, 30)
				h.hold(35, 40, unlocking, 900, unlocked, 910)
			},
		},
		"between other holds": {
			`w2.0 had lock 0 until 775ms at least ("was told that it lost it" is from 800ms, with timers up to 0s late), but w3.0 acquired it by 40ms`,
			[]string{"w2.0", "w3.0"}, "  redis   its holder may have lost its key, until 0.100000 s\n", func(h handmade) {
				h.hold(1, 10, unlocking, 15, unlocked, 16)
				h.hold(2, 20, lost, 800)
				h.lose(0, 22, 100)
				h.hold(3, 40, unlocking, 50, unlocked, 60)
				h.hold(3, 105, unlocking, 190, unlocked, 200)
			},
		},
		"with an answer after that of the next holder": {
			`w1.0 had lock 0 until 775ms at least ("was told that it lost it" is from 800ms, with timers up to 0s late), but w2.0 acquired it by 40ms`,
			[]string{"w1.0", "w2.0"}, "", func(h handmade) {
				h.hold(1, 90, lost, 800)
				h.lose(0, 22, 30)
				h.hold(3, 40, unlocking, 50, unlocked, 60)
			},
		},
		"with a lease under way": {
			`w1.0 had lock 0 until 501ms at least (it asked at 1ms for a lease of 500ms), but w2.0 acquired it by 310ms`,
			[]string{"w1.0", "w2.0"}, "", func(h handmade) {
				h.hold(1, 10, reentered, 20)
				h.hold(5, 310, unlocking, 320, unlocked, 330)
			},
		},
		"with an unlock that worked": {
			`w1.0 had lock 0 until 910ms at least (its unlock worked by 910ms), but w2.0 acquired it by 505ms`,
			[]string{"w1.0", "w2.0"}, "", func(h handmade) {
				h.hold(1, 10, unlocking, 900, unlocked, 910)
				h.hold(5, 505, unlocking, 1000, unlocked, 1010)
			},
		},
		"with a token that does not rise": {
			"w2.0 acquired the lock (lock 0, value 0), which cannot be after: w1.0 unlocked (lock 0, value 0)",
			[]string{"w2.0", "w1.0"}, "", func(h handmade) {
				h.hold(1, 10, unlocking, 20, unlocked, 30)
				h.lose(0, 31, 33)
				h.hold(35, 40, unlocking, 50, unlocked, 60).Token = 1
			},
		},
		"that lost a write": {
			"w1.0 wrote the ledger (lock 0, value 1), which cannot be after: w2.0 wrote the ledger (lock 0, value 1)",
			[]string{"w1.0", "w2.0"}, "", func(h handmade) {
				a, b := h.hold(1, 10, lost, 510), h.hold(5, 550)
				a.Token, b.Token = 0, 0
				h.use(a, read, 20, 30, 0)
				h.use(b, read, 560, 570, 0)
				h.use(b, wrote, 580, 590, 1)
				h.use(a, wrote, 600, 610, 1)
			},
		},
		"that misses a write, while another one was killed": {
			"w3.0 read the ledger (lock 0, value 0), which cannot be after: w2.0 wrote the ledger (lock 0, value 1)",
			[]string{"w3.0", "w2.0"}, "", func(h handmade) {
				a, b, c := h.hold(1, 10), h.hold(5, 550, unlocking, 600, unlocked, 610), h.hold(605, 620, unlocking, 730)
				h.use(a, read, 20, 30, 0)
				a.by.ended = ms(700)
				h.use(b, read, 560, 570, 0)
				h.use(b, wrote, 580, 590, 1)
				h.use(c, read, 710, 720, 0)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHandmade()
			c.add(h)
			h.check()
			require.Len(t, h.violations, 1)
			require.Equal(t, c.want, h.violations[0].text)
			var of []string
			for _, o := range h.violations[0].of {
				of = append(of, o.String())
			}
			require.Equal(t, c.of, of)
			require.Contains(t, h.timeline(h.violations[0].of), c.seen)
		})
	}
}

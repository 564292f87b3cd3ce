package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

// told is a history that is made by hand, of one lock, with a lease of a second and
// times in milliseconds.
type told struct{ *history }

func tell() told {
	h := told{&history{settings: settings{Locks: 1, Lease: time.Second}, holds: map[int64]*hold{}, counts: map[string]int{}}}
	h.until = time.Hour
	return h
}

func at(ms int) moment { return time.Duration(ms) * time.Millisecond }

// hold adds a hold, of a process of its own that lives on, with a token that rises,
// and with what happened to it, in turn: a kind of event, and when.
func (h told) hold(asked, got int, events ...any) *hold {
	id := int64(len(h.holds) + 1)
	by := &process{name: fmt.Sprint("w", id)}
	h.take(by, event{Kind: asks, At: at(asked), Hold: id})
	h.take(by, event{Kind: holds, At: at(got), Hold: id, Token: 10 * id})
	for i := 0; i < len(events); i += 2 {
		h.take(by, event{Kind: events[i].(string), At: at(events[i+1].(int)), Hold: id})
	}
	return h.holds[id]
}

// stood says that the hold's process stood still.
func (o *hold) stood(from, to int) { o.by.stalls = append(o.by.stalls, span{at(from), at(to)}) }

func (h told) lose(lock, from, to int) {
	h.losses = append(h.losses, loss{span{at(from), at(to)}, lock})
}

// kinds are those of the violations that are found.
func (h told) kinds() (kinds []string) {
	h.judge()
	for _, v := range h.violations {
		kinds = append(kinds, v.kind)
	}
	return kinds
}

func TestWhatALockMayDoIsAccepted(t *testing.T) {
	for name, story := range map[string]func(told){
		"one after the other": func(h told) {
			h.hold(1, 10, unlocks, 20, freed, 30)
			h.hold(5, 35, unlocks, 40, freed, 50)
		},
		"a release that takes effect before its answer": func(h told) {
			h.hold(1, 10, unlocks, 20, freed, 60)
			h.hold(5, 35, unlocks, 40, freed, 50)
		},
		"expiry, then takeover": func(h told) {
			h.hold(1, 10, lost, 1000)
			h.hold(5, 1005, unlocks, 1010, freed, 1020)
		},
		"a late unlock that says that the hold was lost": func(h told) {
			h.hold(1, 10, unlocks, 3010, gone, 3020).stood(500, 3000)
			h.hold(5, 1505, unlocks, 1510, freed, 1520)
		},
		"an unlock of unknown outcome that freed the lock": func(h told) {
			h.hold(1, 10, unlocks, 20, unknown, 30)
			h.hold(5, 25, unlocks, 40, freed, 50)
		},
		"an unlock that freed the lock, by a process that stood still before the answer": func(h told) {
			h.hold(1, 10, unlocks, 20, gone, 1520).stood(22, 1500)
			h.hold(5, 25, unlocks, 40, freed, 50)
		},
		"a forced unlock": func(h told) {
			h.hold(1, 10, unlocks, 500, gone, 510)
			h.lose(0, 20, 30)
			h.hold(5, 35, unlocks, 40, freed, 50)
		},
		"a server that came back without its data": func(h told) {
			h.hold(1, 10, lost, 500)
			h.lose(every, 20, 30)
			h.hold(5, 35, unlocks, 40, freed, 50)
		},
		"a holder that was killed while its unlock was under way": func(h told) {
			h.hold(1, 10, unlocks, 20)
			h.hold(5, 25, unlocks, 40, freed, 50)
		},
		"a holder that was killed": func(h told) {
			h.hold(1, 10, reads, 20)
			h.hold(5, 1005, unlocks, 1010, freed, 1020)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := tell()
			story(h)
			require.Empty(t, h.kinds())
		})
	}
}

func TestWhatNoLockMayDoIsNotLinearizable(t *testing.T) {
	for name, story := range map[string]func(told){
		"two holders at once": func(h told) {
			h.hold(1, 10, unlocks, 100, freed, 110)
			h.hold(20, 30, unlocks, 40, freed, 50)
		},
		"a stranger's unlock that succeeded": func(h told) {
			h.hold(1, 10, unlocks, 1500, freed, 1510)
			h.hold(5, 1005, unlocks, 2000, freed, 2010)
		},
		"a takeover before the lease was over": func(h told) {
			h.hold(1, 10, lost, 950)
			h.hold(5, 500, unlocks, 510, freed, 520)
		},
		"a takeover from a holder that was never told": func(h told) {
			h.hold(1, 10, unlocks, 3000, gone, 3010)
			h.hold(5, 1500, unlocks, 1510, freed, 1520)
		},
		"an unlock that frees the lock and says that it was lost": func(h told) {
			h.hold(1, 10, unlocks, 20, gone, 30)
			h.hold(5, 25, unlocks, 40, freed, 50)
		},
		"a takeover from a killed holder before its lease was over": func(h told) {
			h.hold(1, 10, reads, 20)
			h.hold(5, 500, unlocks, 510, freed, 520)
		},
		"a token that does not rise": func(h told) {
			h.hold(1, 10, unlocks, 20, freed, 30)
			h.hold(35, 40, unlocks, 50, freed, 60).Token = 1
		},
		"two holders at once, after a forced unlock of another": func(h told) {
			h.hold(1, 10, unlocks, 100, gone, 110)
			h.lose(0, 15, 20)
			h.hold(320, 322, unlocks, 500, freed, 510)
			h.hold(330, 340, unlocks, 420, freed, 430)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := tell()
			story(h)
			require.Contains(t, h.kinds(), nonLinearizable)
		})
	}
}

// A history that is cut into pieces is refused where it is wrong, and only there.
func TestLongHistoryIsCheckedInPieces(t *testing.T) {
	h := tell()
	for i := range 2000 {
		h.hold(max(1, 10*i-200), 10*i+2, unlocks, 10*i+5, freed, 10*i+6)
	}
	checked := h.judge()
	require.Empty(t, h.violations)
	require.Greater(t, checked.pieces, 10)
	h.hold(9990, 10_003, unlocks, 10_004, freed, 10_005).Token = 10_011
	h.judge()
	require.NotEmpty(t, h.violations)
	require.LessOrEqual(t, len(h.violations), 3, "one overlap, and one cut may be in the middle of it")
	for _, v := range h.violations {
		require.InDelta(t, 10_000, v.of[0].at(holds).Milliseconds(), 50, v.text)
	}
}

// A renewal that does not look for its owner keeps a hold alive that was forced.
func TestHoldThatWasTakenAwayMayBeBelievedForALeaseAndNoLonger(t *testing.T) {
	for until, want := range map[int][]string{1100: nil, 1300: {overlap}} {
		h := tell()
		h.hold(1, 10, unlocks, until, gone, until+10)
		h.lose(0, 20, 30)
		h.hold(35, 40, unlocks, 2000, freed, 2010)
		require.Equal(t, want, h.kinds())
	}
}

func TestBeliefsThatOverlapAreFound(t *testing.T) {
	h := tell()
	h.hold(1, 10, unlocks, 3000, gone, 3010)
	h.hold(5, 1500, unlocks, 1510, freed, 1520)
	require.Contains(t, h.kinds(), overlap)
}

func TestWaiterWhomNobodyServesIsFound(t *testing.T) {
	h := tell()
	h.hold(1, 10, unlocks, 20, freed, 30)
	h.hold(15, 9000, unlocks, 9010, freed, 9020)
	require.Equal(t, []string{unserved}, h.kinds())
	h.violations, h.faults = nil, []fault{{"stop the server", redisName, span{at(4000), at(6000)}}}
	require.Empty(t, h.kinds(), "a fault was active")
}

func TestWriteThatUndoesOthersIsALostUpdate(t *testing.T) {
	h := tell()
	o := h.hold(1, 10, reads, 20)
	h.take(o.by, event{Kind: writes, At: at(30), Hold: 1, Undone: 3})
	require.Equal(t, []string{lostUpdate}, h.kinds())
	require.Contains(t, h.timeline([]*hold{o}), "0.030000 s  w1.0     writes")
}

// accounts is a ledger with a Redis of its own.
func accounts(t *testing.T, fenced bool) ledger {
	rdb := redisserver.NewClient(miniredis.RunT(t).Addr())
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return ledger{rdb, fenced}
}

func TestLedgerCountsAndTellsWhatAWriteUndid(t *testing.T) {
	l := accounts(t, false)
	for n := range int64(3) {
		value, writes, ok := l.read(0, 1, 0)
		require.Equal(t, []any{n, n, true}, []any{value, writes, ok})
		value, writes, ok = l.write(0, 1, 0, value+1)
		require.Equal(t, []any{n + 1, n + 1, true}, []any{value, writes, ok})
	}
}

// Between the next holder's read and its write: a ledger that looked only at the
// tokens of writes would take it, and lose it.
func TestFencedLedgerRefusesAnOldTokenAndAnEqualOneOfAnother(t *testing.T) {
	l := accounts(t, true)
	refuses := func(lock int, hold, token int64, value any) bool {
		_, _, ok := l.write(lock, hold, token, value)
		return !ok
	}
	const newest = 1_700_000_000_000_001 // as large as stage 6's
	require.False(t, refuses(0, 1, newest, ""))
	require.True(t, refuses(0, 2, newest, ""), "equal, of another")
	require.False(t, refuses(0, 2, newest+1, ""))
	require.True(t, refuses(0, 1, newest, 1), "old, though nobody has written since")
	require.False(t, refuses(0, 2, newest+1, 1))
	require.False(t, refuses(1, 1, newest, 1), "another account")
}

//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	testLease = 1000 * time.Millisecond
	testSlack = 100 * time.Millisecond
	testEnd   = time.Minute
)

// told makes a history by hand, in milliseconds.
type told struct {
	*history
	next int64
}

func newTold() *told {
	h := newHistory()
	h.begin(1, "w1", 0)
	h.processes[1].last = testEnd
	return &told{history: h}
}

func at(ms int) moment { return time.Duration(ms) * time.Millisecond }

// hold adds a hold of lock 0 that was asked for and got at those times. Its token
// rises.
func (t *told) hold(asked, got int) *hold {
	t.next++
	o := &hold{id: t.next, by: t.processes[1], lane: int(t.next), asked: at(asked), answered: at(got), got: true, token: 10 * t.next}
	t.holds[o.id] = o
	return o
}

// unlock ends a hold.
func (o *hold) unlock(asked, answered int, became string) *hold {
	o.unlocking, o.unlocked, o.became = at(asked), at(answered), became
	return o
}

func (o *hold) tell(lost int) *hold {
	o.lost = at(lost)
	return o
}

func (t *told) force(from, to int, freed bool) {
	t.forced = append(t.forced, forcing{span: span{at(from), at(to)}, freed: freed})
}

// illegal are the parts of the history that porcupine refuses.
func (t *told) illegal() []illegalPiece {
	return t.linearize(1, testLease, testSlack).illegal
}

func (t *told) kinds() []violationKind {
	var kinds []violationKind
	for _, v := range t.judge(judgement{locks: 1, fenced: true, lease: testLease, slack: testSlack, until: testEnd}) {
		kinds = append(kinds, v.kind)
	}
	return kinds
}

func TestPorcupineAccepts(t *testing.T) {
	for name, tell := range map[string]func(*told){
		"one after the other": func(h *told) {
			h.hold(0, 10).unlock(20, 30, freed)
			h.hold(5, 35).unlock(40, 50, freed)
		},
		"a release that takes effect before its answer": func(h *told) {
			h.hold(0, 10).unlock(20, 60, freed)
			h.hold(5, 35).unlock(40, 50, freed)
		},
		"expiry, then takeover": func(h *told) {
			h.hold(0, 10).tell(1000)
			h.hold(5, 1005).unlock(1010, 1020, freed)
		},
		"a late unlock that says that the hold was lost": func(h *told) {
			h.processes[1].stalls = []span{{at(500), at(3000)}}
			h.hold(0, 10).unlock(3010, 3020, gone)
			h.hold(5, 1505).unlock(1510, 1520, freed)
		},
		"an unlock of unknown outcome that freed the lock": func(h *told) {
			h.hold(0, 10).unlock(20, 30, unknown)
			h.hold(5, 25).unlock(40, 50, freed)
		},
		"a forced unlock": func(h *told) {
			h.hold(0, 10).unlock(500, 510, gone)
			h.force(20, 30, true)
			h.hold(5, 35).unlock(40, 50, freed)
		},
		"a server that came back without its data": func(h *told) {
			h.hold(0, 10).tell(500)
			h.forgotten = []span{{at(20), at(30)}}
			h.hold(5, 35).unlock(40, 50, freed)
		},
		"a forced unlock that finds nobody": func(h *told) {
			h.hold(0, 10).unlock(20, 30, freed)
			h.force(25, 35, false)
		},
		"a holder that was killed while its unlock was under way": func(h *told) {
			o := h.hold(0, 10)
			o.by, o.unlocking = &process{last: at(20)}, at(20)
			h.hold(5, 25).unlock(40, 50, freed)
		},
		"a holder that was killed": func(h *told) {
			h.hold(0, 10).by = &process{last: at(20)}
			h.hold(5, 1005).unlock(1010, 1020, freed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTold()
			tell(h)
			require.Empty(t, h.illegal())
			require.Empty(t, h.kinds())
		})
	}
}

func TestPorcupineRefuses(t *testing.T) {
	for name, tell := range map[string]func(*told){
		"two holders at once": func(h *told) {
			h.hold(0, 10).unlock(100, 110, freed)
			h.hold(20, 30).unlock(40, 50, freed)
		},
		"a stranger's unlock that succeeded": func(h *told) {
			h.hold(0, 10).unlock(1500, 1510, freed)
			h.hold(5, 1005).unlock(2000, 2010, freed)
		},
		"a takeover before the lease was over": func(h *told) {
			h.hold(0, 10).tell(950)
			h.hold(5, 500).unlock(510, 520, freed)
		},
		"a takeover from a holder that was never told": func(h *told) {
			h.hold(0, 10).unlock(3000, 3010, gone)
			h.hold(5, 1500).unlock(1510, 1520, freed)
		},
		"a takeover from a killed holder before its lease was over": func(h *told) {
			h.hold(0, 10).by = &process{last: at(20)}
			h.hold(5, 500).unlock(510, 520, freed)
		},
		"a token that does not rise": func(h *told) {
			h.hold(0, 10).unlock(20, 30, freed)
			h.hold(35, 40).unlock(50, 60, freed).token = 1
		},
		"a forced unlock that finds nobody while there is a holder": func(h *told) {
			h.hold(0, 10).unlock(50, 60, freed)
			h.force(20, 30, false)
		},
		"two holders at once, after a forced unlock of another": func(h *told) {
			h.hold(0, 10).unlock(100, 110, gone)
			h.force(15, 20, true)
			h.hold(12, 322).unlock(500, 210, freed)
			h.hold(30, 340).unlock(420, 430, freed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTold()
			tell(h)
			require.Len(t, h.illegal(), 1)
		})
	}
}

// A history that is cut into pieces is refused where it is wrong, and only there.
func TestLongHistoryIsCheckedInPieces(t *testing.T) {
	h := newTold()
	for i := range 2000 {
		h.hold(max(0, 10*i-200), 10*i+2).unlock(10*i+5, 10*i+6, freed)
	}
	v := h.linearize(1, testLease, testSlack)
	require.Empty(t, v.illegal)
	require.Greater(t, v.pieces, 10)
	wrong := h.hold(9990, 10_003).unlock(10_004, 10_005, freed)
	wrong.token = 10_011
	v = h.linearize(1, testLease, testSlack)
	require.NotEmpty(t, v.illegal)
	require.LessOrEqual(t, len(v.illegal), 2, "one cut may be in the middle of it")
	require.Contains(t, v.illegal[0].said(h.history), wrong.String())
}

func TestBeliefsThatOverlapAreFound(t *testing.T) {
	h := newTold()
	h.hold(0, 10).unlock(3000, 3010, gone)
	h.hold(5, 1500).unlock(1510, 1520, freed)
	require.Equal(t, []violationKind{overlap}, h.kinds())
}

// A renewal that does not look for its owner keeps a hold alive that was forced.
func TestHoldThatWasTakenAwayMayBeBelievedUntilItsRenewalAndNoLonger(t *testing.T) {
	for until, want := range map[int][]violationKind{850: nil, 950: {overlap}} {
		h := newTold()
		h.hold(0, 10).unlock(until, until+10, gone)
		h.force(20, 30, true)
		h.hold(5, 40).unlock(2000, 2010, freed)
		require.Equal(t, want, h.kinds())
	}
}

func TestHolderWhomTheLedgerTurnsAwayIsFound(t *testing.T) {
	h := newTold()
	h.hold(0, 10).unlock(20, 30, freed).turnedAway = true
	h.hold(30, 40).unlock(2050, 2060, gone).tell(1040).turnedAway = true
	require.Equal(t, []violationKind{wrongRefusal}, h.kinds())
}

func TestWaiterWhomNobodyServesIsFound(t *testing.T) {
	wait := func(h *told) {
		h.hold(0, 10).unlock(20, 30, freed)
		h.hold(15, 9000).unlock(9010, 9020, freed)
	}
	h := newTold()
	wait(h)
	require.Equal(t, []violationKind{unserved}, h.kinds())

	h = newTold()
	wait(h)
	h.faults = []fault{{kind: "stop the server", span: span{at(2000), at(5000)}}}
	require.Empty(t, h.kinds(), "a fault was active")
}

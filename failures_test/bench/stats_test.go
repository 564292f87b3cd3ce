package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantileIsTheNearestMeasuredValue(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	require.Equal(t, 3.0, median(values))
	require.Equal(t, 1.0, quantile(values, 0))
	require.Equal(t, 5.0, quantile(values, 0.99))
	require.Equal(t, []float64{5, 1, 4, 2, 3}, values, "it sorts a copy")
}

// Convicts a ratio the wrong way round, and one of totals, which one slow round
// would spoil.
func TestRateIsTheMedianOfTheRatiosOfTheRounds(t *testing.T) {
	took := rounds{
		"slow": {2 * time.Second, 4 * time.Second, 100 * time.Second},
		"fast": {1 * time.Second, 2 * time.Second, 1 * time.Second},
	}
	middle, low, high := took.rate("slow", "fast")
	require.Equal(t, 0.5, middle)
	require.Equal(t, 0.01, low)
	require.Equal(t, 0.5, high)
	middle, _, _ = took.rate("fast", "slow")
	require.Equal(t, 2.0, middle)
}

func TestPairsOutOfOrderAreCountedAllNotOnlyNeighbours(t *testing.T) {
	require.Zero(t, outOfOrder([]int{0, 1, 2, 3}))
	require.Equal(t, 6, outOfOrder([]int{3, 2, 1, 0}))
	require.Equal(t, 3, outOfOrder([]int{1, 2, 3, 0}))
}

// Convicts a drain in which the first one who came waits for all others.
func TestDrainTellsWhoWasOvertaken(t *testing.T) {
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	served := func(order ...int) []service {
		var all []service
		for i, came := range order {
			all = append(all, service{called: at(came), at: at(100 + i)})
		}
		return all
	}
	fair := readDrain(at(99), served(0, 1, 2, 3), 2)
	require.Zero(t, fair.pairs)
	require.InDelta(t, 1, fair.longest, 0.01)
	unfair := readDrain(at(99), served(1, 2, 3, 0), 2)
	require.Equal(t, 3, unfair.pairs)
	require.InDelta(t, 4, unfair.longest, 0.01)
}

func TestHandOversRunFromTheUnlockBeforeToTheLock(t *testing.T) {
	turns := []turn{{Locked: 50, Unlocked: 60}, {Locked: 15, Unlocked: 40}}
	require.Equal(t, []time.Duration{5, 10}, between(10, turns))
}

func TestVerdictsAreCounted(t *testing.T) {
	rows := []row{{Verdict: met}, {Verdict: missed}, {Verdict: missed}, {}}
	require.Equal(t, map[verdict]int{met: 1, missed: 2, "": 1}, tally(rows))
}

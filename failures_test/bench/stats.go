package main

import (
	"math"
	"slices"
	"time"
)

// quantile is the value below which the share q of the values lies: the nearest
// one that was measured. It is NaN where there are none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// rounds has what each contestant needed, round by round. In one round all ran
// within a few milliseconds of each other, so that a machine that slows down slows
// them all.
type rounds map[string][]time.Duration

// rate is how many times the rate of the other one a contestant reached: the
// median of the ratios of the rounds, and the middle half of them.
func (r rounds) rate(one, other string) (middle, low, high float64) {
	ratios := make([]float64, len(r[one]))
	for i := range ratios {
		ratios[i] = float64(r[other][i]) / float64(r[one][i])
	}
	return median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75)
}

// milliseconds are the durations as numbers.
func milliseconds(durations []time.Duration) []float64 {
	values := make([]float64, len(durations))
	for i, d := range durations {
		values[i] = float64(d) / float64(time.Millisecond)
	}
	return values
}

// outOfOrder counts the pairs that were served the other way round than they
// came. served holds, in the order of service, the places in the queue.
func outOfOrder(served []int) int {
	pairs := 0
	for i := range served {
		for _, later := range served[i+1:] {
			if later < served[i] {
				pairs++
			}
		}
	}
	return pairs
}

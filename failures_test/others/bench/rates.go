package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// pairsALap is short, so that what disturbs the machine disturbs all alike.
const pairsALap = 100

func (b *bench) roundTrips() []row {
	return []row{{What: "lock + unlock: round trips", Cells: b.each(func(s *site, kind string) string {
		a := s.start(task{Kind: kind, Count: true}).ask(order{Do: pairsOrder, N: pairsALap, Side: 1})
		return fmt.Sprintf("%.2f", float64(a.Trips)/pairsALap)
	})}}
}

func (b *bench) alone() []row {
	laps := b.race(b.times(150, 25), order{Do: pairsOrder, N: pairsALap, Side: 1})
	allocations := cells(func(kind string) string {
		var each []float64
		for _, lap := range laps[kind] {
			each = append(each, lap.Allocations)
		}
		return fmt.Sprintf("%.0f", median(each))
	})
	return []row{
		{What: "lock + unlock: allocations", Cells: allocations},
		{What: "rate alone, of redislock's", Cells: rates(laps)},
	}
}

func (b *bench) sideBySide() []row {
	laps := b.race(b.times(60, 12), order{Do: pairsOrder, N: 8, Side: 64})
	return []row{{What: "rate of 64 goroutines with names of their own, of redislock's", Cells: rates(laps)}}
}

// again is a second redislock: what it differs from the first is noise.
const again = bsmKind + " again"

// race gives each kind a process of its own, so that the timers, goroutines and
// garbage of one library are not the others' burden, and the same order once a
// round: short laps, in another order each round. It returns their answers.
func (b *bench) race(rounds int, o order) map[string][]answer {
	names := append([]string{again}, kinds...)
	laps := map[string][]answer{}
	b.onSite(func(s *site) {
		racers := map[string]worker{}
		for _, name := range names {
			racers[name] = s.start(task{Kind: strings.TrimSuffix(name, " again")})
			racers[name].ask(o) // makes connections, and loads scripts
		}
		for range rounds {
			for _, i := range rand.Perm(len(names)) {
				laps[names[i]] = append(laps[names[i]], racers[names[i]].ask(o))
			}
		}
	})
	return laps
}

// rates are the rates of the kinds, of redislock's: the median of the ratios of the
// rounds, and the middle half of them. In one round all ran within a few
// milliseconds of each other, so that a machine that slows down slows them all.
// redislock's own is that of the second one.
func rates(laps map[string][]answer) map[string]string {
	return cells(func(kind string) string {
		mine := laps[kind]
		if kind == bsmKind {
			mine = laps[again]
		}
		ratios := make([]float64, len(mine))
		for i, lap := range mine {
			ratios[i] = float64(laps[bsmKind][i].Took) / float64(lap.Took)
		}
		return fmt.Sprintf("%.2f (%.2f–%.2f)", median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75))
	})
}

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

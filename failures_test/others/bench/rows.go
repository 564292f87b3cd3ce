package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
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

func (b *bench) handOver() []row {
	return []row{
		{What: "hand-over in one process, median µs", Cells: b.handOvers(1)},
		{What: "hand-over between two processes, median µs", Cells: b.handOvers(2)},
	}
}

// pollsEvery is how many rounds come before the next one with those that poll:
// each hand-over of theirs takes some 100 ms.
const pollsEvery = 12

// handOvers measures hand-overs of all kinds, turn by turn, in one process or
// between two.
func (b *bench) handOvers(processes int) map[string]string {
	took := map[string][]float64{}
	b.onSite(func(s *site) {
		couples := map[string][]worker{} // the one that holds, and the one that is to get it next
		for _, kind := range kinds {
			first := s.start(task{Kind: kind})
			first.ask(order{Do: lockOrder, Name: kind, For: patience})
			second := first
			if processes == 2 {
				second = s.start(task{Kind: kind})
			}
			couples[kind] = []worker{first, second}
		}
		for round := range b.times(240, 36) {
			for _, kind := range kinds {
				polls := kind == bsmKind || kind == redsyncKind
				if polls && round%pollsEvery != 0 {
					continue
				}
				d := handOver(couples[kind][0], couples[kind][1], kind, polls)
				took[kind] = append(took[kind], float64(d.Microseconds()))
				couples[kind][0], couples[kind][1] = couples[kind][1], couples[kind][0]
			}
		}
	})
	return cells(func(kind string) string { return fmt.Sprintf("%.0f", median(took[kind])) })
}

// handOver hands a lock from one to the other, which may be the same process. It
// returns how long that takes: from when unlock is called until lock returns.
func handOver(holder, waiter worker, name string, polls bool) time.Duration {
	waiter.tell(order{Do: lockOrder, Name: name, For: patience})
	// Time to begin to wait. For one that polls it is as long as a pause between
	// polls, and random, so that the unlock comes at any point of it.
	if polls {
		time.Sleep(10*time.Millisecond + rand.N(100*time.Millisecond))
	} else {
		time.Sleep(4*time.Millisecond + rand.N(2*time.Millisecond))
	}
	holder.tell(order{Do: unlockOrder, Name: name})
	one, other := holder.hear(), waiter.hear()
	return time.Duration(max(one.Locked, other.Locked) - max(one.Unlocked, other.Unlocked))
}

// waiters starts a process in which goroutines wait for locks that a holder keeps,
// and gives them a second to come to rest.
func (s *site) waiters(kind, name string, names, each int) {
	w := s.start(task{Kind: kind})
	for i := range names * each {
		w.tell(order{Do: lockOrder, Name: fmt.Sprintf("%s:%d", name, i%names), For: forEver})
	}
	s.rest(time.Second)
}

func (b *bench) idle() []row {
	seconds := b.times(10, 3)
	return []row{{What: fmt.Sprintf("1,000 waiters idle for %d s: commands", seconds), Cells: b.each(func(s *site, kind string) string {
		s.holder(task{Kind: kind}, "idle", 1)
		s.waiters(kind, "idle", 1, 1000)
		return fmt.Sprint(s.sent(func() { s.rest(time.Duration(seconds) * time.Second) }).sum())
	})}}
}

func (b *bench) names() []row {
	return []row{{What: "500 contended names: connections of the process that waits", Cells: b.each(func(s *site, kind string) string {
		s.holder(task{Kind: kind}, "names", 500)
		before := s.info("clients", "connected_clients")
		s.waiters(kind, "names", 500, 1)
		return fmt.Sprint(s.info("clients", "connected_clients") - before)
	})}}
}

// crowdSize is how many processes want one lock.
const crowdSize = 8

func (b *bench) crowd() []row {
	times := b.times(50, 4)
	return []row{{What: "8 processes hand over: attempts, new connections for each", Cells: b.each(func(s *site, kind string) string {
		holder := s.start(task{Kind: kind})
		var crowd []worker
		for range crowdSize {
			crowd = append(crowd, s.start(task{Kind: kind}))
		}
		s.drain(kind, holder, crowd) // warms up
		attempts, before := 0, s.info("stats", "total_connections_received")
		for range times {
			attempts += s.drain(kind, holder, crowd)
		}
		connections := s.info("stats", "total_connections_received") - before - times // those of the count
		handOvers := float64(crowdSize * times)
		return fmt.Sprintf("%.2f, %.2f", float64(attempts)/handOvers, float64(connections)/handOvers)
	})}}
}

// drain lets all processes wait, frees the lock, waits until each had it once, and
// returns how many attempts that took.
func (s *site) drain(kind string, holder worker, crowd []worker) (attempts int) {
	holder.ask(order{Do: lockOrder, Name: "crowd", For: patience})
	for _, w := range crowd {
		w.tell(order{Do: turnOrder, Name: "crowd", For: patience})
	}
	s.rest(150 * time.Millisecond) // until all wait
	sent := s.sent(func() {
		holder.ask(order{Do: unlockOrder, Name: "crowd"})
		for _, w := range crowd {
			w.hear()
		}
	})
	if kind == redsyncKind {
		return sent["set"] // and its scripts unlock
	}
	return sent["evalsha"] + sent["eval"] - crowdSize - 1 // those that unlock
}

// renewals are how often in a lease the kinds renew that do.
var renewals = map[string]time.Duration{stage6Kind: 3, rueidisKind: 2}

const noRenewal = "renews nothing"

// held has one process take very many locks, and then hold them for a period of
// renewal.
func (b *bench) held() []row {
	locks := map[string]int{stage6Kind: b.times(100_000, 20_000), rueidisKind: b.times(5_000, 2_000)}
	lease := time.Duration(b.times(15, 6)) * time.Second
	return []row{{
		What: fmt.Sprintf("%d locks held (rueidislock: %d): goroutines at rest, round trips in a period of renewal",
			locks[stage6Kind], locks[rueidisKind]),
		Cells: b.each(func(s *site, kind string) string {
			if locks[kind] == 0 {
				return noRenewal
			}
			w := s.holder(task{Kind: kind, Lease: lease, Count: true}, "held", locks[kind])
			a := w.ask(order{Do: watchOrder, For: lease / renewals[kind]})
			return fmt.Sprintf("%d, %d", a.Goroutines, a.Trips)
		}),
	}}
}

// renewingLease makes the 360 periods of an hour, at the default lease of stage 6,
// pass in 22 s.
const renewingLease = 180 * time.Millisecond

func (b *bench) renewing() []row {
	watched := time.Duration(b.times(360, 60)) * renewingLease / 3
	return []row{{
		What: fmt.Sprintf("a held lock renewing for %.0f s: commands in a period", watched.Seconds()),
		Cells: b.each(func(s *site, kind string) string {
			if renewals[kind] == 0 {
				return noRenewal
			}
			s.holder(task{Kind: kind, Lease: renewingLease}, "renewing", 1)
			s.rest(renewingLease) // the scripts are loaded
			periods := float64(watched) / float64(renewingLease/renewals[kind])
			return fmt.Sprintf("%.2f", float64(s.sent(func() { s.rest(watched) }).sum())/periods)
		}),
	}}
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

package main

import (
	"fmt"
	"time"
)

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

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// drained is what became of a queue of waiters.
type drained struct {
	scripts float64 // for each hand-over
	pairs   int     // out of order
	longest float64 // wait, of what its place in the queue lets expect
	each    float64 // milliseconds for each hand-over
}

func measureDrain(ctx context.Context, r run) ([]row, error) {
	return onServer(ctx, func(s *server) (_ []row, err error) {
		all, err := openAll(settings{Addr: s.addr()}, stage6Kind, rueidisKind)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, closeAll(all)) }()
		seen := map[string][]drained{}
		for range r.times(7, 3) {
			for _, c := range all {
				d, err := drain(ctx, s, c, 1000)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.kind, err)
				}
				seen[c.kind] = append(seen[c.kind], d)
			}
		}
		return drainRows(middleOf(seen[stage6Kind]), middleOf(seen[rueidisKind])), nil
	})
}

func drainRows(ours, rueidis drained) []row {
	return []row{
		{
			What:   "1,000 waiters of one process drained: scripts for each hand-over",
			Ours:   fmt.Sprintf("%.2f", ours.scripts),
			Beside: fmt.Sprintf("rueidislock %.2f", rueidis.scripts),
			Target: "<= 2", Verdict: verdictOf(ours.scripts <= 2.005),
		},
		{
			What:   "pairs out of order",
			Ours:   fmt.Sprint(ours.pairs),
			Beside: fmt.Sprintf("rueidislock %d", rueidis.pairs),
			Target: "0", Verdict: verdictOf(ours.pairs == 0),
		},
		{
			What:   "longest wait, of what its place lets expect",
			Ours:   fmt.Sprintf("%.2f (%.3f ms each)", ours.longest, ours.each),
			Beside: fmt.Sprintf("rueidislock %.2f (%.3f ms each)", rueidis.longest, rueidis.each),
			Target: "<= 1.2", Verdict: verdictOf(ours.longest <= 1.2),
		},
	}
}

// middleOf has the median of the ratios, and the worst of what may not happen at
// all.
func middleOf(all []drained) drained {
	var scripts, longest, each []float64
	pairs := 0
	for _, d := range all {
		scripts, longest, each = append(scripts, d.scripts), append(longest, d.longest), append(each, d.each)
		pairs = max(pairs, d.pairs)
	}
	return drained{slices.Max(scripts), pairs, median(longest), median(each)}
}

// service is when a waiter called, and when it was served.
type service struct {
	called, at time.Time
	err        error
}

// drain lets n goroutines queue for a lock one after the other, and then hands it
// from one to the next.
func drain(ctx context.Context, s *server, c contestant, n int) (drained, error) {
	name := "drain:" + c.kind
	first, err := patiently(ctx, c.locker, name)
	if err != nil {
		return drained{}, err
	}
	services := make(chan service, n)
	for range n {
		waits := make(chan struct{})
		go func() {
			came := time.Now()
			h, err := patientlyNoticed(ctx, c.locker, name, sync.OnceFunc(func() { close(waits) }))
			services <- service{came, time.Now(), err}
			if err == nil {
				_ = h.unlock() // the next one is served, or the drain does not end
			}
		}()
		select { // it has joined the queue before the next one
		case <-waits:
			time.Sleep(100 * time.Microsecond) // if it asked a moment before
		case <-time.After(50 * time.Millisecond):
		}
	}
	time.Sleep(100 * time.Millisecond) // until all wait
	served := make([]service, 0, n)
	var called time.Time
	executed, err := s.during(ctx, func() error {
		called = time.Now()
		if err := first.unlock(); err != nil {
			return err
		}
		for range n {
			one := <-services
			if one.err != nil {
				return one.err
			}
			served = append(served, one)
		}
		return nil
	})
	if err != nil {
		return drained{}, err
	}
	return readDrain(called, served, float64(executed.scripts())/float64(n)), nil
}

// readDrain reads, from who was served when, how a queue was served.
func readDrain(called time.Time, served []service, scripts float64) drained {
	slices.SortFunc(served, func(a, b service) int { return a.at.Compare(b.at) })
	queue := slices.SortedFunc(slices.Values(served), func(a, b service) int { return a.called.Compare(b.called) })
	places, between := make([]int, len(served)), make([]float64, len(served))
	last := called
	for i, one := range served {
		places[i], between[i] = slices.Index(queue, one), one.at.Sub(last).Seconds()
		last = one.at
	}
	each := median(between)
	expected := float64(places[len(places)-1]+1) * each // of the one who was served last
	return drained{
		scripts: scripts, pairs: outOfOrder(places), each: each * 1000,
		longest: last.Sub(called).Seconds() / expected,
	}
}

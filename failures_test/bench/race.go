package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// racer is a contestant with a process of its own: the timers, goroutines and
// garbage of one library are not the others' burden. Two of one kind measure the
// noise.
type racer struct {
	name string
	kind string
	*worker
}

// again is the second redislock: what it differs from the first is noise.
const again = "redislock again"

// newRacers starts a process for each.
func newRacers(s *server, names ...string) ([]racer, error) {
	var all []racer
	for _, name := range names {
		kind := name
		if name == again {
			kind = bsmKind
		}
		w, err := startWorker(kind, settings{Addr: s.addr()})
		if err != nil {
			endRacers(all)
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, racer{name, kind, w})
	}
	for _, r := range all { // connections are made, scripts are loaded
		if _, err := r.ask(order{Do: pairsOrder, N: warmUp, Side: 1}); err != nil {
			endRacers(all)
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return all, nil
}

func endRacers(all []racer) {
	for _, r := range all {
		r.end()
	}
}

// lap is what some pairs of lock and unlock cost in one process.
type lap struct {
	Took        time.Duration `json:"took"`
	Allocations float64       `json:"allocations"` // for each pair
}

// laps are those of each racer, round by round.
type laps map[string][]lap

// race gives each racer the same order once a round, each round in another order
// of theirs.
func race(ctx context.Context, all []racer, times int, o order) (laps, error) {
	run := laps{}
	for i := range times + 1 {
		order := slices.Clone(all)
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, r := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			a, err := r.ask(o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			if i > 0 { // the first round warms up
				run[r.name] = append(run[r.name], a.Lap)
			}
		}
	}
	return run, nil
}

func (l laps) took() rounds {
	r := rounds{}
	for name, all := range l {
		for _, one := range all {
			r[name] = append(r[name], one.Took)
		}
	}
	return r
}

// allocations are the medians, for each pair.
func (l laps) allocations() map[string]float64 {
	medians := map[string]float64{}
	for name, all := range l {
		var each []float64
		for _, one := range all {
			each = append(each, one.Allocations)
		}
		medians[name] = median(each)
	}
	return medians
}

// warmUp is how many pairs come before what is measured.
const warmUp = 50

// repeat does a pair n times.
func repeat(ctx context.Context, n int, pair func(context.Context) error) error {
	for range n {
		if err := pair(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lap locks and unlocks N times on each of Side goroutines, which all have names of
// their own.
func (p *performer) lap(ctx context.Context, o order) (answer, error) {
	for len(p.pairs) < o.Side {
		p.pairs = append(p.pairs, p.locker.pair(fmt.Sprintf("lap:%d:%d", os.Getpid(), len(p.pairs))))
	}
	// A process that was idle is slow at first: it has to be scheduled again.
	if err := p.pairsOf(ctx, order{N: o.N / 2, Side: o.Side}); err != nil {
		return answer{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err := p.pairsOf(ctx, o)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	each := float64(after.Mallocs-before.Mallocs) / float64(o.N*o.Side)
	return answer{Lap: lap{took, each}}, err
}

func (p *performer) pairsOf(ctx context.Context, o order) error {
	if o.Side == 1 {
		return repeat(ctx, o.N, p.pairs[0])
	}
	var group errgroup.Group
	for _, pair := range p.pairs[:o.Side] {
		group.Go(func() error { return repeat(ctx, o.N, pair) })
	}
	return group.Wait()
}

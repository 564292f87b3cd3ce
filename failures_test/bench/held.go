package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// holding is what a process needs that holds many locks.
type holding struct {
	Locks      int `json:"locks"`
	Lost       int `json:"lost"`
	Goroutines int `json:"goroutines"` // at most times: the median of what was seen
	Most       int `json:"most"`       // while renewals are under way
	Heap       int `json:"heap"`       // bytes, after a collection
}

// heldLease is renewed three times in this time.
const heldLease = 15 * time.Second

func measureHeld(ctx context.Context, r run) ([]row, error) {
	ours, err := holdMany(ctx, r, stage6Kind, r.times(100_000, 20_000))
	if err != nil {
		return nil, err
	}
	rueidis, err := holdMany(ctx, r, rueidisKind, r.times(5_000, 2_000))
	if err != nil {
		return nil, err
	}
	allowed := float64(ours.Locks) * 1100 / 100_000
	return []row{
		{
			What:   fmt.Sprintf("%d locks held by one process: goroutines (most at once)", ours.Locks),
			Ours:   fmt.Sprintf("%d (%d)", ours.Goroutines, ours.Most),
			Beside: fmt.Sprintf("rueidislock %d (%d) for %d", rueidis.Goroutines, rueidis.Most, rueidis.Locks),
			Target: "O(1): < 100", Verdict: verdictOf(ours.Goroutines < 100),
		},
		{
			What:   "bytes for each lock",
			Ours:   fmt.Sprintf("%.0f", ours.bytesEach()),
			Beside: fmt.Sprintf("rueidislock %.0f", rueidis.bytesEach()),
			Target: "< 1024", Verdict: verdictOf(ours.bytesEach() < 1024),
		},
		{
			What:   "commands for each period of renewal",
			Ours:   fmt.Sprintf("%.0f", ours.perPeriod),
			Beside: fmt.Sprintf("rueidislock %.0f for %d", rueidis.perPeriod, rueidis.Locks),
			Target: fmt.Sprintf("<= %.0f", allowed), Verdict: verdictOf(ours.perPeriod <= allowed),
		},
		{
			What:   "lost while 2 goroutines burn the cores",
			Ours:   fmt.Sprint(ours.Lost),
			Beside: fmt.Sprintf("rueidislock %d of %d", rueidis.Lost, rueidis.Locks),
			Target: "0", Verdict: verdictOf(ours.Lost == 0),
		},
	}, nil
}

// many is what was measured of many held locks.
type many struct {
	holding
	grown     int     // of the heap
	perPeriod float64 // commands
}

func (m many) bytesEach() float64 { return float64(m.grown) / float64(m.Locks) }

// holdMany lets a process take the locks, then hold them for a period of renewal,
// and for another one in which it burns the cores.
func holdMany(ctx context.Context, r run, kind string, locks int) (many, error) {
	var m many
	_, err := onServer(ctx, func(s *server) ([]row, error) {
		lease := r.long(heldLease, 6*time.Second)
		w, err := startWorker(kind, settings{Addr: s.addr(), Lease: lease})
		if err != nil {
			return nil, err
		}
		defer w.end()
		taken, err := w.ask(order{Do: holdOrder, N: locks})
		if err != nil {
			return nil, err
		}
		period := lease / 3
		if kind == rueidisKind {
			period = lease / 2 // its own default
		}
		var quiet, burning answer
		executed, err := s.during(ctx, func() error {
			quiet, err = w.ask(order{Do: watchOrder, For: period})
			return err
		})
		if err != nil {
			return nil, err
		}
		if burning, err = w.ask(order{Do: watchOrder, For: period, Burn: true}); err != nil {
			return nil, err
		}
		m = many{
			holding: burning.Holding, grown: taken.Holding.Heap,
			perPeriod: float64(executed.wire(inside(kind))),
		}
		m.Goroutines = quiet.Holding.Goroutines
		m.Most = max(quiet.Holding.Most, burning.Holding.Most)
		return nil, nil
	})
	return m, err
}

// hold takes N locks and keeps them. It answers by how much the heap has grown.
func (p *performer) hold(ctx context.Context, o order) (answer, error) {
	if err := repeat(ctx, warmUp, p.locker.pair("held:warm-up")); err != nil {
		return answer{}, err
	}
	p.holdAll = make([]held, o.N)
	before := heapInUse()
	var next atomic.Int64
	var group errgroup.Group
	for range 32 {
		group.Go(func() error {
			for i := next.Add(1) - 1; int(i) < o.N; i = next.Add(1) - 1 {
				var err error
				if p.holdAll[i], err = p.locker.lock(ctx, fmt.Sprintf("held:%06d", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return answer{Holding: holding{Locks: o.N, Heap: heapInUse() - before}}, err
}

// watch looks, for some time, at what is held. While it burns the cores there are
// two goroutines that never rest.
func (p *performer) watch(ctx context.Context, o order) holding {
	seen := holding{Locks: len(p.holdAll)}
	var running []float64
	done := make(chan struct{})
	if o.Burn {
		for range 2 {
			go burn(done)
		}
	}
	for end := time.Now().Add(o.For); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		running = append(running, float64(runtime.NumGoroutine()))
	}
	seen.Goroutines, seen.Most = int(median(running)), int(quantile(running, 1))
	close(done)
	for _, h := range p.holdAll {
		if h.lost() != nil {
			seen.Lost++
		}
	}
	return seen
}

// burn keeps a core busy.
func burn(done <-chan struct{}) {
	for n := 0; ; n++ {
		if n%(1<<20) == 0 {
			select {
			case <-done:
				return
			default:
			}
		}
	}
}

// heapInUse is how many bytes are in use, after what can be collected is.
func heapInUse() int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// handOverKinds are compared; those that poll are asked less often, since each
// hand-over of theirs takes some 100 ms.
var handOverKinds = []struct {
	kind  string
	polls bool
}{{stage6Kind, false}, {rueidisKind, false}, {bsmKind, true}, {redsyncKind, true}}

// pollEvery is how many rounds come before the next one with those that poll.
const pollEvery = 12

// waitSome gives a waiter time to begin to wait. For one that polls it is as long
// as a pause between polls, and random, so that the unlock comes at any point of it.
func waitSome(polls bool) {
	if polls {
		time.Sleep(10*time.Millisecond + rand.N(100*time.Millisecond))
		return
	}
	time.Sleep(4*time.Millisecond + rand.N(2*time.Millisecond))
}

// handOvers measures one pair of a holder and a waiter again and again, turn by
// turn with the other kinds.
func handOvers(ctx context.Context, times int, one func(kind string, polls bool) (time.Duration, error)) (map[string]float64, error) {
	took := map[string][]time.Duration{}
	for i := range times {
		for _, k := range handOverKinds {
			if k.polls && i%pollEvery != 0 {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			d, err := one(k.kind, k.polls)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.kind, err)
			}
			took[k.kind] = append(took[k.kind], d)
		}
	}
	medians := map[string]float64{}
	for kind, durations := range took {
		medians[kind] = median(milliseconds(durations))
	}
	return medians, nil
}

func measureHandOver(ctx context.Context, r run) ([]row, error) {
	return onServer(ctx, func(s *server) ([]row, error) {
		same, err := handOversInside(ctx, s, r.times(240, 36))
		if err != nil {
			return nil, err
		}
		two, err := handOversBetween(ctx, s, r.times(240, 36))
		if err != nil {
			return nil, err
		}
		return []row{
			handOverRow("hand-over, same process, median ms", same),
			handOverRow("hand-over, two processes, median ms", two),
		}, nil
	})
}

func handOverRow(what string, medians map[string]float64) row {
	ours, rueidis := medians[stage6Kind], medians[rueidisKind]
	return row{
		What:   what,
		Ours:   fmt.Sprintf("%.2f", ours),
		Beside: fmt.Sprintf("rueidislock %.2f, redislock %.0f, redsync %.0f", rueidis, medians[bsmKind], medians[redsyncKind]),
		Target: "< 0.5, <= rueidislock", Verdict: verdictOf(ours < 0.5 && ours <= rueidis),
	}
}

// handOversInside hands over between two goroutines.
func handOversInside(ctx context.Context, s *server, times int) (_ map[string]float64, err error) {
	all, err := openAll(settings{Addr: s.addr()}, stage6Kind, rueidisKind, bsmKind, redsyncKind)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(all)) }()
	lockers := map[string]*locker{}
	for _, c := range all {
		lockers[c.kind] = c.locker
	}
	return handOvers(ctx, times, func(kind string, polls bool) (time.Duration, error) {
		l, name := lockers[kind], "hand-over:"+kind
		first, err := patiently(ctx, l, name)
		if err != nil {
			return 0, err
		}
		type result struct {
			at  time.Time
			err error
			held
		}
		got := make(chan result, 1)
		go func() {
			next, err := patiently(ctx, l, name)
			got <- result{time.Now(), err, next}
		}()
		waitSome(polls)
		called := time.Now()
		if err := first.unlock(); err != nil {
			return 0, err
		}
		next := <-got
		if next.err != nil {
			return 0, next.err
		}
		return next.at.Sub(called), next.unlock()
	})
}

// handOversBetween hands over between two processes, to and fro.
func handOversBetween(ctx context.Context, s *server, times int) (map[string]float64, error) {
	couples := map[string][]*worker{}
	for _, k := range handOverKinds {
		couple, err := startWorkers(2, k.kind, settings{Addr: s.addr()})
		if err != nil {
			return nil, err
		}
		defer endWorkers(couple)
		if _, err := couple[0].ask(order{Do: lockOrder, Name: k.kind}); err != nil {
			return nil, err
		}
		couples[k.kind] = couple
	}
	return handOvers(ctx, times, func(kind string, polls bool) (time.Duration, error) {
		holder, waiter := couples[kind][0], couples[kind][1]
		couples[kind] = []*worker{waiter, holder}
		if err := waiter.tell(order{Do: lockOrder, Name: kind}); err != nil {
			return 0, err
		}
		waitSome(polls)
		called, err := holder.ask(order{Do: unlockOrder, Name: kind})
		if err != nil {
			return 0, err
		}
		locked, err := waiter.hear()
		if err != nil {
			return 0, err
		}
		return time.Duration(locked.Turns[0].Locked - called.Turns[0].Unlocked), nil
	})
}

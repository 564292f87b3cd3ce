package main

import (
	"context"
	"errors"
	"fmt"
)

// pairsALap is short, so that what disturbs the machine disturbs all alike.
const pairsALap = 100

func measureAlone(ctx context.Context, r run) ([]row, error) {
	return onServer(ctx, func(s *server) ([]row, error) {
		all, err := newRacers(s, stage6Kind, bsmKind, again, floorKind, redsyncKind, rueidisKind)
		if err != nil {
			return nil, err
		}
		defer endRacers(all)
		one := order{Do: pairsOrder, N: pairsALap, Side: 1}
		commands := map[string]float64{}
		for _, racer := range all {
			executed, err := s.during(ctx, func() error {
				_, err := racer.ask(one)
				return err
			})
			if err != nil {
				return nil, err
			}
			commands[racer.name] = float64(executed.wire(inside(racer.kind))) / (pairsALap * 3 / 2)
		}
		roundTrips, err := countRoundTrips(ctx, s)
		if err != nil {
			return nil, err
		}
		laps, err := race(ctx, all, r.times(150, 25), one)
		if err != nil {
			return nil, err
		}
		return aloneRows(commands, roundTrips, laps.took()), nil
	})
}

// countRoundTrips is how often stage 6 writes to its connections for a pair. Each
// time it waits for the answer.
func countRoundTrips(ctx context.Context, s *server) (_ float64, err error) {
	l, t, err := open(stage6Kind, settings{Addr: s.addr(), Count: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	pair := l.pair("round trips")
	if err := repeat(ctx, warmUp, pair); err != nil {
		return 0, err
	}
	before := t.writes.Load()
	err = repeat(ctx, pairsALap, pair)
	return float64(t.writes.Load()-before) / pairsALap, err
}

func aloneRows(commands map[string]float64, roundTrips float64, took rounds) []row {
	toRival, low, high := took.rate(stage6Kind, bsmKind)
	noise, noiseLow, noiseHigh := took.rate(again, bsmKind)
	toFloor, floorLow, floorHigh := took.rate(stage6Kind, floorKind)
	toRedsync, _, _ := took.rate(redsyncKind, bsmKind)
	toRueidis, _, _ := took.rate(rueidisKind, bsmKind)
	return []row{
		{
			What: "lock + unlock, nobody else: round trips, commands",
			Ours: fmt.Sprintf("%.2f, %.2f", roundTrips, commands[stage6Kind]),
			Beside: fmt.Sprintf("commands: redislock %.2f, redsync %.2f, rueidislock %.2f",
				commands[bsmKind], commands[redsyncKind], commands[rueidisKind]),
			Target: "2, 2", Verdict: verdictOf(roundTrips <= 2 && commands[stage6Kind] <= 2),
		},
		{
			What: "rate, of redislock's",
			Ours: fmt.Sprintf("%.2f (%.2f–%.2f)", toRival, low, high),
			Beside: fmt.Sprintf("redislock again %.2f (%.2f–%.2f), redsync %.2f, rueidislock %.2f",
				noise, noiseLow, noiseHigh, toRedsync, toRueidis),
			Target: ">= 0.93", Verdict: verdictOf(toRival >= 0.93),
		},
		{
			What:   "rate, of the same scripts through plain go-redis",
			Ours:   fmt.Sprintf("%.2f (%.2f–%.2f)", toFloor, floorLow, floorHigh),
			Target: ">= 0.95", Verdict: verdictOf(toFloor >= 0.95),
		},
	}
}

func measureAllocations(ctx context.Context, r run) ([]row, error) {
	return onServer(ctx, func(s *server) ([]row, error) {
		all, err := newRacers(s, stage6Kind, bsmKind, floorKind, redsyncKind, rueidisKind)
		if err != nil {
			return nil, err
		}
		defer endRacers(all)
		laps, err := race(ctx, all, r.times(15, 5), order{Do: pairsOrder, N: pairsALap, Side: 1})
		if err != nil {
			return nil, err
		}
		each := laps.allocations()
		return []row{{
			What: "allocations per lock + unlock",
			Ours: fmt.Sprintf("%.0f", each[stage6Kind]),
			Beside: fmt.Sprintf("redislock %.0f, redsync %.0f, rueidislock %.0f; the two scripts alone %.0f",
				each[bsmKind], each[redsyncKind], each[rueidisKind], each[floorKind]),
			Target: "<= 20", Verdict: verdictOf(each[stage6Kind] < 20.5), // what else the process allocates is in it
		}}, nil
	})
}

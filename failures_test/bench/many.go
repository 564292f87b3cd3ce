package main

import (
	"context"
	"fmt"
)

// sideBySide is how many goroutines lock, each a name of its own.
const sideBySide = 64

func measureMany(ctx context.Context, r run) ([]row, error) {
	return onServer(ctx, func(s *server) ([]row, error) {
		all, err := newRacers(s, stage6Kind, pipedKind, bsmKind, again, redsyncKind, rueidisKind)
		if err != nil {
			return nil, err
		}
		defer endRacers(all)
		laps, err := race(ctx, all, r.times(60, 12), order{Do: pairsOrder, N: 8, Side: sideBySide})
		if err != nil {
			return nil, err
		}
		return manyRows(laps.took()), nil
	})
}

func manyRows(took rounds) []row {
	toRival, low, high := took.rate(stage6Kind, bsmKind)
	noise, noiseLow, noiseHigh := took.rate(again, bsmKind)
	toRedsync, _, _ := took.rate(redsyncKind, bsmKind)
	toRueidis, _, _ := took.rate(rueidisKind, bsmKind)
	piped, pipedLow, pipedHigh := took.rate(pipedKind, rueidisKind)
	pipedToRival, _, _ := took.rate(pipedKind, bsmKind)
	return []row{
		{
			What: "64 goroutines, names of their own: rate, of redislock's",
			Ours: fmt.Sprintf("%.2f (%.2f–%.2f)", toRival, low, high),
			Beside: fmt.Sprintf("redislock again %.2f (%.2f–%.2f), redsync %.2f, rueidislock %.2f",
				noise, noiseLow, noiseHigh, toRedsync, toRueidis),
			// Nothing is slower than redislock that is as fast as redislock is to itself.
			Target: ">= 1, or redislock's own noise", Verdict: verdictOf(toRival >= min(1, noiseLow)),
		},
		{
			What:   "with go-redis's auto-pipelining: rate, of rueidislock's",
			Ours:   fmt.Sprintf("%.2f (%.2f–%.2f)", piped, pipedLow, pipedHigh),
			Beside: fmt.Sprintf("of redislock's %.2f", pipedToRival),
			Target: ">= 1", Verdict: verdictOf(piped >= 1),
		},
	}
}

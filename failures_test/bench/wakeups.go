package main

import (
	"context"
	"fmt"
)

func measureBroadcast(ctx context.Context, r run) ([]row, error) {
	return onCrowds(ctx, []string{stage6Kind, rueidisKind}, func(crowds []*crowd) ([]row, error) {
		seen, err := drainCrowds(ctx, r.times(50, 8), crowds)
		if err != nil {
			return nil, err
		}
		ours, rueidis := seen[stage6Kind], seen[rueidisKind]
		return []row{
			{
				What:   "8 processes wait, broadcast: attempts, messages for each hand-over",
				Ours:   fmt.Sprintf("%.2f, %.2f", ours.attempts(), ours.perHandOver(ours.messages)),
				Beside: fmt.Sprintf("rueidislock %.2f attempts, by invalidation", rueidis.attempts()),
			},
			{
				What:   "p50, p99 ms",
				Ours:   fmt.Sprintf("%.2f, %.2f", median(ours.took), quantile(ours.took, 0.99)),
				Beside: fmt.Sprintf("rueidislock %.2f, %.2f", median(rueidis.took), quantile(rueidis.took, 0.99)),
			},
		}, nil
	})
}

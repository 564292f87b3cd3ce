package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// churned is how long processes waited that wanted one lock again and again.
type churned struct{ median, longest float64 } // milliseconds

func (c churned) ratio() float64 { return c.longest / c.median }

func (c *crowd) churn(d time.Duration) (churned, error) {
	answers, err := c.askAll(order{Do: churnOrder, Name: c.name, For: d})
	if err != nil {
		return churned{}, err
	}
	var waits []time.Duration
	for _, t := range turnsOf(answers) {
		waits = append(waits, time.Duration(t.Locked-t.Called))
	}
	ms := milliseconds(waits)
	return churned{median(ms), slices.Max(ms)}, nil
}

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

func measureDirected(ctx context.Context, r run) ([]row, error) {
	rows, err := onCrowds(ctx, []string{stage6Kind, directedKind}, func(crowds []*crowd) ([]row, error) {
		seen, err := drainCrowds(ctx, r.times(50, 8), crowds)
		if err != nil {
			return nil, err
		}
		waits := map[string]churned{}
		for _, c := range crowds {
			if waits[c.kind], err = c.churn(r.long(5*time.Second, 1500*time.Millisecond)); err != nil {
				return nil, err
			}
		}
		return directedRows(seen, waits), nil
	})
	if err != nil {
		return nil, err
	}
	victims, err := measureVictims(ctx, r.times(40, 3))
	return append(rows, victims...), err
}

func directedRows(seen map[string]*passed, waits map[string]churned) []row {
	ours, broadcast := seen[directedKind], seen[stage6Kind]
	attempts, messages := ours.attempts(), ours.perHandOver(ours.messages)
	p50, broadcastP50 := median(ours.took), median(broadcast.took)
	churn, broadcastChurn := waits[directedKind], waits[stage6Kind]
	return []row{
		{
			What:   "8 processes wait, directed: attempts for each hand-over",
			Ours:   fmt.Sprintf("%.2f", attempts),
			Beside: fmt.Sprintf("broadcast %.2f", broadcast.attempts()),
			Target: "<= 1.05", Verdict: verdictOf(attempts <= 1.05),
		},
		{
			What:   "messages for each hand-over",
			Ours:   fmt.Sprintf("%.2f", messages),
			Beside: fmt.Sprintf("broadcast %.2f", broadcast.perHandOver(broadcast.messages)),
			Target: "<= 2.1", Verdict: verdictOf(messages <= 2.1),
		},
		{
			What:   "p50, p99 ms",
			Ours:   fmt.Sprintf("%.2f, %.2f", p50, quantile(ours.took, 0.99)),
			Beside: fmt.Sprintf("broadcast %.2f, %.2f", broadcastP50, quantile(broadcast.took, 0.99)),
			Target: "p50 <= broadcast", Verdict: verdictOf(p50 <= broadcastP50),
		},
		{
			What:   "longest wait under churn, of the median",
			Ours:   fmt.Sprintf("%.1f (%.0f of %.0f ms)", churn.ratio(), churn.longest, churn.median),
			Beside: fmt.Sprintf("broadcast %.1f (%.0f of %.0f ms)", broadcastChurn.ratio(), broadcastChurn.longest, broadcastChurn.median),
			Target: "<= 3", Verdict: verdictOf(churn.ratio() <= 3),
		},
	}
}

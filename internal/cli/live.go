package cli

import (
	"context"
	"errors"
	"fmt"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/redisserver"
	"lockkata/internal/stages"
)

// atOnce is how many failures are played on real servers at the same time: most
// of their time is waiting for a lease.
const atOnce = 12

// where says on which Redis the matrix is played.
type where struct {
	live bool
	addr string // of a real Redis that is there already; "" starts our own
}

func (w where) check() error {
	if w.addr != "" && !w.live {
		return fmt.Errorf("--redis names the Redis for --live: add --live")
	}
	return nil
}

// String completes "real locks on".
func (w where) String() string {
	switch {
	case !w.live:
		return "an embedded Redis"
	case w.addr == "":
		return "real redis-server processes"
	}
	return "the Redis at " + w.addr
}

// servers are the real Redis servers.
func (w where) servers(ctx context.Context) (*live.Servers, error) {
	if w.addr == "" {
		servers, err := live.Start(ctx, atOnce)
		if errors.Is(err, redisserver.ErrMissing) {
			err = fmt.Errorf("%w, or name a running Redis with --redis ADDR", err)
		}
		return servers, err
	}
	servers, err := live.At(ctx, w.addr, atOnce)
	if err != nil {
		return nil, fmt.Errorf("%w; start one there, or leave out --redis and lockkata starts its own", err)
	}
	return servers, nil
}

// judgeLive plays the whole catalogue on every stage, on real servers.
func (a *app) judgeLive(w where, scripts [][]string) ([][]cell, error) {
	servers, err := w.servers(context.Background())
	if err != nil {
		return nil, err
	}
	defer servers.Close()
	var jobs []live.Job
	for _, f := range failures.All {
		for n, stage := range stages.All {
			jobs = append(jobs, live.Job{Failure: f, Subject: stage.Subject, Scripts: scripts[n]})
		}
	}
	verdicts := servers.Play(jobs)
	for _, v := range verdicts {
		if errors.Is(v.Err, live.ErrBusy) {
			fmt.Fprintf(a.err, "%s on %s was not played: %v\n", v.Failure.ID, v.Subject, v.Err)
		}
	}
	cells := make([][]cell, len(failures.All))
	for i, f := range failures.All {
		for _, stage := range stages.All {
			cells[i] = append(cells[i], cell{verdicts[0], failures.Stage(stage.Number)(f)})
			verdicts = verdicts[1:]
		}
	}
	return cells, nil
}

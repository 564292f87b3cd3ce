package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/i18n"
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
		return liveMissing.Args()
	}
	return nil
}

var (
	onEmbedded = i18n.New("an embedded Redis")
	onServers  = i18n.New("real redis-server processes")
	onAddress  = i18n.New("the Redis at {address}")

	liveMissing  = i18n.New("--redis names the Redis for --live: add --live")
	noServer     = i18n.New("there is no redis-server: install one (apt install redis-server, brew install redis), or name a running Redis with --redis ADDR")
	orOurOwn     = i18n.New("{error}; start one there, or leave out --redis and lockkata starts its own")
	wasNotPlayed = i18n.New("{failure} on {stage} was not played: {error}")
)

// said completes "real locks on".
func (w where) said() i18n.Message {
	switch {
	case !w.live:
		return onEmbedded.Args()
	case w.addr == "":
		return onServers.Args()
	}
	return onAddress.Args("address", w.addr)
}

// servers are the real Redis servers.
func (w where) servers(ctx context.Context) (*live.Servers, error) {
	if w.addr == "" {
		servers, err := live.Start(ctx, atOnce)
		if errors.Is(err, redisserver.ErrMissing) {
			err = noServer.Args()
		}
		return servers, err
	}
	servers, err := live.At(ctx, w.addr, atOnce)
	if err != nil {
		return nil, orOurOwn.Args("error", err)
	}
	return servers, nil
}

// judgeLive plays the whole catalogue on the columns, on real servers.
func (a *app) judgeLive(w where, all []failures.Failure, of []stages.Stage) ([][]failures.Verdict, error) {
	servers, err := w.servers(context.Background())
	if err != nil {
		return nil, err
	}
	defer servers.Close()
	var jobs []live.Job
	for _, f := range all {
		for _, c := range of {
			jobs = append(jobs, live.Job{Failure: f, Subject: c.Subject})
		}
	}
	verdicts := servers.Play(jobs)
	for _, v := range verdicts {
		if errors.Is(v.Err, live.ErrBusy) {
			fmt.Fprintln(a.err, a.say(wasNotPlayed, "failure", v.Failure.ID, "stage", v.Subject, "error", v.Err))
		}
	}
	return slices.Collect(slices.Chunk(verdicts, len(of))), nil
}

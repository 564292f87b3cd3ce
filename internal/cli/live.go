package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// atOnce is how many failures run on real servers at the same time. Most of their time is waiting
// for a lease.
const atOnce = 12

var (
	noServer  = i18n.New("there is no redis-server: install one (apt install redis-server, brew install redis), or name a running Redis with --redis ADDR")
	orOurOwn  = i18n.New("{error}; start one there, or leave out --redis and lockkata starts its own")
	notPlayed = i18n.New("Not played here:")
)

// judgeLive plays failures on real servers until the context ends.
func (a *app) judgeLive(ctx context.Context, r request, all []failures.Failure) (g grid, err error) {
	if g.columns, err = stages.Ready(a.t, r.columns()); err != nil {
		return g, failedError{err}
	}
	var servers *live.Servers
	if r.addr != "" {
		servers, err = live.At(ctx, r.addr, atOnce)
	} else {
		servers, err = live.Start(ctx, atOnce)
	}
	switch {
	case errors.Is(err, redisserver.ErrMissing):
		return g, noServer.Args()
	case err != nil && r.addr != "":
		return g, orOurOwn.Args("error", err)
	case err != nil:
		return g, err
	}
	defer servers.Close()
	var jobs []live.Job
	for _, f := range all {
		for _, c := range g.columns {
			jobs = append(jobs, live.Job{Failure: f, Subject: c.Subject})
		}
	}
	played := make(chan []failures.Verdict, 1)
	go func() { played <- servers.Play(jobs) }()
	select {
	case <-ctx.Done():
		return g, ctx.Err()
	case verdicts := <-played:
		g.rows = slices.Collect(slices.Chunk(verdicts, len(g.columns)))
		return g, nil
	}
}

// printElsewhere prints why failures were not played on real servers.
func (a *app) printElsewhere(g grid) {
	affected := map[string][]string{} // reason → failures
	for _, v := range slices.Concat(g.rows...) {
		if why := v.SentenceIn(a.lang); v.Outcome == failures.Elsewhere && !slices.Contains(affected[why], v.Failure.ID) {
			affected[why] = append(affected[why], v.Failure.ID)
		}
	}
	if len(affected) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", a.say(notPlayed))
	}
	for _, why := range slices.Sorted(maps.Keys(affected)) {
		a.item("  ", a.say(titled, "name", strings.Join(affected[why], ", "), "what", why))
	}
}

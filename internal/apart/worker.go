package apart

import (
	"context"
	"strings"

	"lockkata/failures_test/foreign"
	"lockkata/failures_test/live"
	"lockkata/internal/i18n"
)

// atOnceLive is how many failures are played at once on real servers. Most of their time is waiting for a lease.
const atOnceLive = 6

var playingLive = i18n.New("playing the failures in real time, on {server}: about two minutes")

// GradeWorker plays the failures on the lock of a worker, on servers that it starts. An error is about the machine or
// the worker.
func GradeWorker(ctx context.Context, w foreign.Worker, g Grading) (card Card, err error) {
	if w.Has, err = g.features(); err != nil {
		return card, err
	}
	servers, err := live.Start(ctx, atOnceLive)
	if err != nil {
		return card, err
	}
	defer servers.Close()
	card.Worker = strings.Join(w.Command, " ")
	if card.Server, err = servers.Version(ctx); err != nil {
		return card, err
	}
	bench, err := foreign.New(ctx, servers, w)
	if err != nil {
		return card, err
	}
	defer bench.Close()
	g.Say(playingLive.Args("server", card.Server))
	if card.Report, err = Judge(ctx, bench, g.order()); err != nil {
		return card, err
	}
	for i, c := range card.Verdicts {
		card.Verdicts[i].Verdict = c.In(g.Lang)
		card.Verdicts[i].Line = "" // of this program
	}
	card.fill(Report{})
	return card, nil
}

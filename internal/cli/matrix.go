package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// request is the arguments of the matrix.
type request struct {
	view
	families []string // only these; none: all of them, and the totals
	all      bool     // every failure, by family
	totals   bool     // the totals only
	asJSON   bool
	live     bool   // on real servers
	addr     string // of a running Redis server; "" starts one
}

// where returns where the failures run, as a part of a sentence.
func (r request) where() i18n.Message {
	switch {
	case !r.live:
		return onEmbedded.Args()
	case r.addr == "":
		return onServers.Args()
	}
	return onAddress.Args("address", r.addr)
}

var (
	onEmbedded  = i18n.New("an embedded Redis")
	onServers   = i18n.New("real redis-server processes")
	onAddress   = i18n.New("the Redis at {address}")
	playing     = i18n.New("playing {n} failures on {locks} locks, on {where}")
	noFamily    = i18n.New("--family {name}: there is no such family")
	liveMissing = i18n.New("--redis names the Redis for --live: add --live")
	isSurprise  = i18n.New("{failure} on {stage}: expected {want}, got {outcome}: {what}")
	otherReason = i18n.New("{failure} on {stage}: {outcome} as expected, but not by what this failure is about: {what}")
)

// asked returns the failures of the chosen families, or all.
func (r request) asked() (asked []catalogue.Failure, err error) {
	all := r.failures()
	if len(r.families) == 0 {
		return all, nil
	}
	short := func(family string) string { return strings.TrimPrefix(family, "the ") }
	var names []string
	for _, f := range all {
		names = append(names, strconv.Quote(short(string(f.Family))))
	}
	names = slices.Compact(names)
	for _, word := range r.families {
		found := len(asked)
		for _, f := range all {
			if name := i18n.Text(f.Family); short(word) == short(string(name)) || word == name.Localize(i18n.Chinese) {
				asked = append(asked, f)
			}
		}
		if len(asked) == found {
			return nil, suggest(noFamily.Args("name", strconv.Quote(word)), strconv.Quote(word), names)
		}
	}
	return asked, nil
}

// grid has the verdicts: a row for each failure, a column for each lock.
type grid struct {
	columns []stages.Stage
	rows    [][]failures.Verdict
}

// isWrong reports whether a verdict is not the expected one.
func (g grid) isWrong(v failures.Verdict, column int) bool {
	return !v.Is(g.columns[column].Expect(v.Failure)) && v.Outcome != failures.Elsewhere
}

// isLimit reports whether none of the locks prevents the failure of a row, as expected.
func (g grid) isLimit(row []failures.Verdict) bool {
	isLimit := false
	for n, v := range row {
		if g.isWrong(v, n) || v.Outcome != failures.Limit && v.Outcome != failures.NotApplicable {
			return false
		}
		isLimit = isLimit || v.Outcome == failures.Limit
	}
	return isLimit
}

// kept has the cells of this process by the IDs of lock and failure.
var kept = map[string]map[string]failures.Cell{}

// here returns the bench of a lock in this process.
func (a *app) here(s stages.Stage) failures.Bench {
	if kept[s.ID] == nil {
		kept[s.ID] = map[string]failures.Cell{}
	}
	return failures.Keep(failures.Here(a.t, s.Subject), kept[s.ID])
}

// judgeAll plays failures on locks, some at a time on each one's bench, until the context ends.
func judgeAll(ctx context.Context, all []catalogue.Failure, of []stages.Stage, bench func(stages.Stage) failures.Bench, some int) (g grid, err error) {
	g.columns = of
	benches := make([]failures.Bench, len(of))
	for n, s := range of {
		benches[n] = bench(s)
	}
	if g.rows, err = failures.Rows(ctx, all, benches, some); err != nil && ctx.Err() == nil {
		err = failedError{err}
	}
	return g, err
}

// matrix prints every failure on every lock.
func (a *app) matrix(ctx context.Context, r request) error {
	if r.addr != "" && !r.live {
		return liveMissing.Args()
	}
	all, err := r.asked()
	if err != nil {
		return err
	}
	start := time.Now()
	a.tell(playing.Args("n", len(all), "locks", len(r.columns()), "where", r.where()))
	var g grid
	if r.live {
		g, err = a.judgeLive(ctx, r, all)
	} else {
		g, err = judgeAll(ctx, all, r.columns(), a.here, 1)
	}
	a.doing("")
	if err != nil {
		return err
	}
	if r.asJSON {
		err = a.matrixJSON(g)
	} else {
		a.printMatrix(r, g, time.Since(start))
	}
	if err != nil {
		return err
	}
	return a.surprises(g)
}

// surprises returns an error with a line for each verdict that is not as expected.
func (a *app) surprises(g grid) error {
	var lines []string
	for _, row := range g.rows {
		for n, v := range row {
			if g.isWrong(v, n) {
				say := isSurprise
				if v.Outcome == g.columns[n].Expect(v.Failure) {
					say = otherReason
				}
				lines = append(lines, a.say(say, "failure", v.Failure.ID, "stage", v.Subject, "want", g.columns[n].Expect(v.Failure).Word(),
					"outcome", v.Outcome.Word(), "what", v.SentenceIn(a.lang)))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return failedError{errors.New(strings.Join(lines, "\n"))}
}

func (a *app) matrixJSON(g grid) error {
	type jsonCell struct {
		Failure     string              `json:"failure"`
		Family      string              `json:"family"`
		Stage       string              `json:"stage"`
		Outcome     string              `json:"outcome"`
		Expected    string              `json:"expected"`
		Sentence    string              `json:"sentence"`
		PreventedBy catalogue.Preventer `json:"prevented_by,omitempty"` // what can prevent it if no lock over one server can
	}
	var all []jsonCell
	for _, row := range g.rows {
		for n, v := range row {
			want := g.columns[n].Expect(v.Failure)
			all = append(all, jsonCell{v.Failure.ID, string(v.Failure.Family), g.columns[n].ID, v.Outcome.String(), want.String(), v.Sentence(), v.Failure.PreventedBy})
		}
	}
	return a.printJSON(all)
}

func (a *app) printJSON(value any) error {
	encoder := json.NewEncoder(a.out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// atOnce is how many failures run on real servers at the same time. Most of their time is waiting
// for a lease.
const atOnce = 12

var (
	noServer  = i18n.New("there is no redis-server: install one (apt install redis-server, brew install redis), or name a running Redis with --redis ADDR")
	orOurOwn  = i18n.New("{error}; start one there, or leave out --redis and lockkata starts its own")
	notPlayed = i18n.New("Not played here:")
)

// judgeLive plays failures on real servers until the context ends.
func (a *app) judgeLive(ctx context.Context, r request, all []catalogue.Failure) (g grid, err error) {
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
	return judgeAll(ctx, all, r.columns(), func(s stages.Stage) failures.Bench {
		use, _ := a.here(s).Learn(ctx) // an error shows in the cells
		s.Subject.Scripts = use.Scripts
		return servers.Bench(s.Subject)
	}, len(all))
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

package foreign

import (
	"errors"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Why a run decides nothing.
var (
	waitsForEnd = i18n.New("over the wire: without an answer of Redis, a call ends with the timeout of the client")
	setsOptions = i18n.New("over the wire: it sets options of the client library")
	gaveUp      = i18n.New("the client gave up the command that was held: give it timeouts of at least three leases")
	notAgain    = i18n.New("the runs differ: {one}; {other}")
	whoseIsIt   = i18n.New("two calls of one process were under way: the wire does not tell whose command it was")
)

// decide returns the verdict as far as the wire carries it.
func decide(v failures.Verdict) failures.Verdict {
	var lacks notCarried
	var useless errUseless
	switch {
	case v.Outcome == failures.NotApplicable || v.Outcome == failures.Elsewhere:
	case find(v.Trace, v.Err, &lacks):
		v.Outcome, v.Missing, v.Findings = failures.NotApplicable, lacks.Message, nil
	case find(v.Trace, v.Err, &useless):
		v.Outcome, v.Missing, v.Findings = failures.NotPlayed, i18n.Text("{error}").Args("error", useless.error), nil
	case v.Outcome == failures.Broken && waitsForTimeout(v):
		v.Outcome, v.Missing, v.Findings = failures.NotApplicable, waitsForEnd.Args(), nil
	case isGivenUp(v.Trace):
		v.Outcome, v.Missing, v.Findings = failures.NotTested, gaveUp.Args(), nil
	case v.Outcome == failures.Broken && !countsCommands(v) && isShared(v.Trace):
		v.Outcome, v.Missing, v.Findings = failures.NotPlayed, whoseIsIt.Args(), nil
	}
	return v
}

// countsCommands reports whether the lock is broken by a rule that counts the commands of a process: it does not matter
// then which of its calls sent them.
func countsCommands(v failures.Verdict) bool {
	against, _ := v.Against()
	return against.Rule == oracle.Polling || against.Rule == oracle.CommandCount
}

// waitsForTimeout reports whether all that the lock did wrong is that calls without a network went on until the client
// gave up, at a timeout for which docs/worker.md asks.
func waitsForTimeout(v failures.Verdict) bool {
	against, _ := v.Against()
	isCut := map[string]bool{} // by process
	for _, e := range v.Trace.Events {
		switch {
		case e.Kind == trace.Cut:
			isCut[e.Process] = true
		case e.Kind == trace.Returned && isCut[e.Process] && !errors.As(e.Result.Err, new(unclear)):
			return false
		}
	}
	return against.Rule == oracle.Context && len(isCut) > 0
}

// isGivenUp reports whether a command during which a process was paused never had its answer.
func isGivenUp(tr *trace.Trace) bool {
	if tr == nil {
		return false
	}
	held := map[string]int{} // process → command
	open := map[int]bool{}
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Frozen && e.Request > 0:
			held[e.Process] = e.Request
		case e.Kind == trace.Thawed && held[e.Process] > 0:
			open[held[e.Process]] = true
		case e.Kind == trace.Delivered || e.Kind == trace.Dropped || e.Kind == trace.Executed && e.Background:
			delete(open, e.Request)
		}
	}
	return len(open) > 0
}

// isShared reports whether a command that changed something was sent while two calls of its process were under way.
func isShared(tr *trace.Trace) bool {
	if tr == nil {
		return false
	}
	calling, doubtful := map[string]int{}, map[int]bool{}
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Called && !trace.IsStore(e.Op):
			calling[e.Process]++
		case e.Kind == trace.Returned:
			calling[e.Process]--
		case e.Kind == trace.Sent && !e.Background && calling[e.Process] > 1:
			doubtful[e.Request] = true
		case e.Kind == trace.Executed && doubtful[e.Request] && len(e.Effects) > 0:
			return true
		}
	}
	return false
}

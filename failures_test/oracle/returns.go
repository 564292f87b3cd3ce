package oracle

import (
	"maps"
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	impatientLockText   = i18n.New("Lock of {client} returned after {time} without waiting for {other}: {error}")
	failedTryLockText   = i18n.New("TryLock of {client} failed with {error} instead of returning false, while {other} holds the lock")
	slowTryLockText     = i18n.New("TryLock of {client} has not returned after {time}, while {other} holds the lock")
	endlessCallText     = i18n.New("{call} of {client} has not returned after {time}")
	ignoredContextText  = i18n.New("{call} of {client} has not returned {time} after its context ended")
	waitAfterCloseText  = i18n.New("Lock of {client} has not returned {time} after its process closed the lock")
	grantAfterCloseText = i18n.New("Lock gave {client} the lock after its process had closed it")
)

// lockWaits reports a Lock that gives up before its context ends while another process holds the lock, a
// TryLock that waits or fails then, and a TryLock or Unlock that never returns. A TryLock may fail if Redis
// answered with an error, or something was lost or late. A Lock may be refused at once if its process has
// not unlocked since its last acquire, or has closed the lock.
func lockWaits(f *file) func(*trace.Scene) {
	taken := map[string]int{} // process → how many of its acquires it has not unlocked
	tries := due{}
	failed := map[string]bool{} // processes whose command failed, or was lost or late
	return func(s *trace.Scene) {
		e, call := s.Event, s.Began
		for _, try := range tries.late(f, s) {
			client := try.call.Client
			switch others := s.Others(client); {
			case len(others) > 0:
				f.reportOf(client, e, slowTryLockText, "time", try.late, "other", others[0])
			case s.Holds(client) > 0:
				f.reportOf(client, e, slowTryLockText, "time", try.late, "other", client)
			}
		}
		switch e.Kind {
		case trace.Cut, trace.Dropped, trace.Refused, trace.Delayed, trace.Server, trace.Frozen:
			failed[e.Process] = true
		case trace.Executed:
			failed[e.Process] = failed[e.Process] || e.IsError()
		case trace.Called:
			if e.Op == trace.OpTryLock {
				tries[e.Call] = promise{call: e, by: e.At}
			}
			if e.Op == trace.OpUnlock && taken[e.Process] > 0 {
				taken[e.Process]--
			}
		case trace.Blocked: // however late each answer was
			if began, busy := s.Call(e.Client); busy && (e.Op == trace.OpTryLock || e.Op == trace.OpUnlock) && e.At-began.At >= e.Bound && !s.Condition(e.Process).Away() {
				f.report(e, endlessCallText, "call", e.Op, "time", e.At-began.At)
			}
		case trace.Returned:
			took := e.At - call.At
			others := s.Others(e.Client)
			if call.Op == trace.OpTryLock && e.Result.Error != "" && took <= Grace(f.Trace) && call.Bound == 0 && taken[e.Process] == 0 &&
				!f.calls[e.Call].left && !failed[e.Process] && !failed[""] && len(others) > 0 && !s.Condition(e.Process).Closed {
				f.report(e, failedTryLockText, "other", others[0], "error", e.Result.Error)
			}
			if e.Acquires() {
				taken[e.Process]++
			}
			isFine := !failed[e.Process] && !failed[""]
			isRefused := e.Result.Claim == trace.ClaimRefused && (isFine || took <= Grace(f.Trace)) || e.Result.Claim == trace.ClaimUnknown && isFine
			gaveUp := isRefused && (call.Bound == 0 || took+f.Slack+time.Millisecond < call.Bound)
			if call.Op != trace.OpLock || f.calls[e.Call].left || taken[e.Process] > 0 || s.Condition(e.Process).Closed {
				return
			}
			if len(others) > 0 && gaveUp {
				f.report(e, impatientLockText, "time", took, "other", others[0], "error", e.Result.Error)
			}
		}
	}
}

// ignoredContext reports acquires that go on after their context has ended, or after their process
// has closed the lock. Commands that are on their way may arrive first, and a paused process notices
// nothing. Without a network nothing arrives: then a deadline has to end the call.
func ignoredContext(f *file) func(*trace.Scene) {
	over, shut := due{}, due{}
	return func(s *trace.Scene) {
		e := s.Event
		_, isShut := shut[e.Call]
		switch {
		case e.Kind == trace.Returned && e.Op == trace.OpClose:
			for _, call := range s.Calls {
				if call.Op == trace.OpLock && call.Process == e.Process {
					shut[call.Call] = promise{call: call, by: e.At}
				}
			}
		case e.Acquires() && isShut:
			f.report(e, grantAfterCloseText)
		case e.Kind == trace.Called && trace.IsAcquire(e.Op) && e.Bound > 0:
			over[e.Call] = promise{call: e, by: e.At + e.Bound, ends: true}
		case e.Kind == trace.Cancelled && trace.IsAcquire(e.Op):
			if call, busy := s.Call(e.Client); busy && call.Call == e.Call { // else it has returned before
				over[e.Call] = promise{call: call, by: e.At}
			}
		}
		for _, p := range over.late(f, s) {
			f.reportOf(p.call.Client, e, ignoredContextText, "call", p.call.Op, "time", p.late)
		}
		for _, p := range shut.late(f, s) {
			f.reportOf(p.call.Client, e, waitAfterCloseText, "time", p.late)
		}
	}
}

// promise is a call and when it should return: later if something has hindered it.
type promise struct {
	call     *trace.Event
	by, late time.Duration
	ends     bool // by a deadline, also where there is no network
}

// due are calls that should return.
type due map[int]promise

// longestPause is how long a lock may pause, however short its lease.
const longestPause = time.Second / 2

// late returns, once, each call that has not returned within a pause after it should have, or two where
// it has no network.
func (d due) late(f *file, s *trace.Scene) (late []promise) {
	e := s.Event
	for _, id := range slices.Sorted(maps.Keys(d)) {
		p := d[id]
		is := s.Condition(p.call.Process)
		isAlone := p.ends && is.Cut && !is.Frozen && !is.Dead
		isBusy := slices.ContainsFunc(s.UnderWay, func(r *trace.Request) bool { return r.Call == id })
		pause := longestPause + f.Slack
		if isAlone {
			pause += longestPause
		}
		switch {
		case e.At-p.by > pause:
			delete(d, id)
			p.late = (e.At - p.by).Truncate(time.Millisecond)
			late = append(late, p)
		case e.Call == id && (e.Kind == trace.Returned || e.Kind == trace.Crashed):
			delete(d, id)
		case !isAlone && (isBusy || is.Away()):
			p.by += max(0, s.Until()-max(p.by, e.At))
			d[id] = p
		}
	}
	return late
}

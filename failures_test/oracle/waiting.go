package oracle

import (
	"cmp"
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	vainWaitText        = i18n.New("{client} waited {time} in vain: no live client holds the lock")
	selfDeadlockText    = i18n.New("{client} waited {time} in vain: only {client} itself holds the lock")
	mutualDeadlockText  = i18n.New("{client} waited {time} in vain: each client holds one lock and waits for the other's")
	lostWakeUpText      = i18n.New("the lock is free, but {client} was not woken")
	unservedWaiterText  = i18n.New("the lock has been free for {time}, but {client} does not get it")
	endlessHoldText     = i18n.New("{client} does not get the lock: {other} has held it for {time}")
	overtakenWaiterText = i18n.New("{client} gets the lock, but {other} of the same process has waited longer")
)

// deadlock reports clients that give up waiting although for a while no other client had a
// right to the lock. Time does not count while their own command, or that of an Unlock, was on
// its way. If Redis lost the key while they waited, or a command of the business removed it, a
// lease does not count either: there is no message then.
func deadlock(f *file) func(*trace.Scene) {
	waiting := map[int]*trace.Event{}
	since := map[int]time.Duration{}   // call → since when no other client has had a right to the lock
	died := map[string]time.Duration{} // process → when it died
	installed := map[string]bool{}     // processes that have a key in Redis
	return func(s *trace.Scene) {
		e := s.Event
		if e.Kind == trace.Crashed {
			died[e.Process] = e.At
		}
		for _, effect := range e.Effects {
			installed[effect.Owner.Process] = effect.Kind == trace.Installed || effect.Kind == trace.Leased
		}
		// The entry of a dead process may block the others for a lease.
		var until time.Duration
		for process, at := range died {
			if installed[process] {
				until = max(until, at+f.Lease)
			}
		}
		vanished := (e.Kind == trace.Server || e.Op == trace.OpRun) && e.Effects.Include(trace.Removed)
		if e.Kind == trace.Called && e.Op == trace.OpLock {
			waiting[e.Call], since[e.Call] = e, e.At
		}
		for id, call := range waiting {
			if len(s.Before.Others(call.Client)) > 0 && call.Step < e.Step {
				since[id] = max(since[id], e.At)
			}
			since[id] = max(since[id], until)
			if vanished {
				since[id] = max(since[id], e.At+f.Lease)
			}
			if s.Condition(call.Process).Away() || isAsking(s, call) {
				since[id] += max(0, s.Until()-max(since[id], e.At))
			}
		}
		call, waited := waiting[e.Call]
		if !waited || e.Kind != trace.Returned && e.Kind != trace.Blocked {
			return
		}
		delete(waiting, e.Call)
		if !gaveUp(e, call) || e.At-since[e.Call] <= Grace(f.Trace) {
			return
		}
		why := vainWaitText
		switch {
		case s.Holds(e.Client) > 0:
			why = selfDeadlockText
		case len(f.Locks(e.Client)) > 1:
			why = mutualDeadlockText
		}
		f.report(e, why, "time", inSeconds(e.At-call.At))
		switch {
		case why == selfDeadlockText:
			f.note(f.lastOf(e.Call, e))
		case why == vainWaitText && len(s.Keys) > 0:
			f.note(f.setting(s.Keys[0].Owner, e))
		}
	}
}

// LongestHold is the number of leases for which a hold may keep others waiting. For them,
// a longer hold is the same as one that never ends.
const LongestHold = 6

// endlessHold reports clients that were refused, or gave up waiting, because of a hold that did not end.
func endlessHold(f *file) func(*trace.Scene) {
	begun := map[string]time.Duration{} // client → when its present hold began
	return func(s *trace.Scene) {
		e := s.Event
		if e.Acquires() && s.Holds(e.Client) == 1 {
			begun[e.Client] = e.At
		}
		isRefused := e.Kind == trace.Returned && trace.IsAcquire(e.Op) && e.Result.Claim == trace.ClaimRefused
		if !isRefused && (e.Op != trace.OpLock || !gaveUp(e, s.Began)) {
			return
		}
		for _, other := range s.Others(e.Client) {
			if lasted := e.At - begun[other]; lasted > LongestHold*f.Lease {
				f.report(e, endlessHoldText, "other", other, "time", inSeconds(lasted))
				if len(s.Keys) > 0 {
					f.note(f.setting(s.Keys[0].Owner, e))
				}
				return
			}
		}
	}
}

// gaveUp reports whether a call, which began with that event, ends because its caller no longer
// waits. Its error may be that of the context, or one that the lock returns when the context ends.
func gaveUp(e, began *trace.Event) bool {
	atItsEnd := e.Kind == trace.Returned && !e.Result.Held && e.Bound > 0 &&
		(e.Result.Claim == trace.ClaimUnknown || e.Result.Claim == trace.ClaimRefused && e.At-began.At >= e.Bound)
	return e.Kind == trace.Blocked || atItsEnd
}

// boundedWait reports waiters that get the lock before an earlier waiter of their
// process. Between processes there is no such order: Redis serves the first command.
func boundedWait(f *file) func(*trace.Scene) {
	return func(s *trace.Scene) {
		e, call := s.Event, s.Began
		if call.Op != trace.OpLock || f.calls[e.Call].left || s.Before.Holds(e.Client) > 0 || !e.Result.Held || e.At == call.At {
			return
		}
		for _, first := range s.Calls {
			if first.Op == trace.OpLock && !f.calls[first.Call].left && first.Process == call.Process && first.At < call.At {
				f.report(e, overtakenWaiterText, "other", first.Client)
				return
			}
		}
	}
}

// lostWakeUp reports clients that wait in Lock although the lock is free, their process runs,
// and none of their commands is on its way. The lock has to be free because a client freed it or
// its lease ended: no message is sent if Redis loses the key or a command of the business removes
// it. A client that also asks now and then may wait for one of its pauses. One that does not listen may
// wait for a few of them, or for a third of a lease if it has sent only one.
func lostWakeUp(f *file) func(*trace.Scene) {
	taken := true                      // there is a key, or no client ended it
	excused := map[int]time.Duration{} // call → until when it had a reason to wait
	told := map[int]bool{}
	listens := map[string]bool{} // processes that get messages; the others poll
	refused := map[string]bool{} // processes whose last SUBSCRIBE failed: the next one is no reason to wait
	asked := map[int]time.Duration{}
	pause := map[int]time.Duration{}  // call → the longest between two of its commands
	latest := map[int]time.Duration{} // and the last one
	var waiting []*trace.Event
	return func(s *trace.Scene) {
		e := s.Event
		for _, call := range waiting {
			moment, text := Grace(f.Trace), lostWakeUpText
			if !listens[call.Process] {
				moment, text = moment+min(cmp.Or(3*pause[call.Call], f.Lease), f.Lease/3), unservedWaiterText
			} else if latest[call.Call] <= f.Lease/3 { // it asks as well
				moment += latest[call.Call]
			}
			if late := e.At - excused[call.Call]; late > moment && !told[call.Call] {
				told[call.Call] = true
				f.reportOf(call.Client, e, text, "time", late)
				f.note(f.last(e, func(sent *trace.Event) bool {
					return sent.Step < e.Step && (sent.Call == call.Call || sent.Process == call.Process && isSubscribe(sent))
				}))
			}
		}
		switch e.Kind {
		case trace.Sent:
			listens[e.Process] = listens[e.Process] || isSubscribe(e) && !refused[e.Process]
			if last, again := asked[e.Call]; again {
				latest[e.Call] = e.At - last
				if latest[e.Call] > f.Slack { // else both are of one attempt
					pause[e.Call] = max(pause[e.Call], latest[e.Call])
				}
			}
			asked[e.Call] = e.At
		case trace.Delivered, trace.Dropped:
			if isSubscribe(e) {
				refused[e.Process] = e.Kind == trace.Dropped || e.IsError()
				listens[e.Process] = !refused[e.Process]
			}
		case trace.Called:
			if e.Op == trace.OpLock {
				waiting, excused[e.Call] = append(waiting, e), e.At
			}
		case trace.Returned, trace.Cancelled, trace.Blocked:
			waiting = slices.DeleteFunc(waiting, func(call *trace.Event) bool { return call.Call == e.Call })
		case trace.Executed, trace.Expired:
			if len(s.Keys) > 0 {
				taken = true
			} else if len(e.Effects) > 0 && e.Op != trace.OpRun {
				taken = false
			}
		}
		for _, call := range waiting {
			since := excused[call.Call]
			switch isBusy := isBusy(s, call, refused[call.Process]); {
			case taken || s.Condition(call.Process).Away() || isBusy && listens[call.Process]:
				excused[call.Call] = max(since, s.Until())
			case isBusy:
				excused[call.Call] += max(0, s.Until()-max(since, e.At))
			}
		}
	}
}

func isSubscribe(e *trace.Event) bool { return len(e.Command) > 0 && e.Command[0] == "SUBSCRIBE" }

// isBusy reports whether a command of the waiter's process is on its way. A background
// command counts only if it is a SUBSCRIBE and the one before was not refused: waiters do
// not wait for renewals, nor for a message that cannot come.
func isBusy(s *trace.Scene, call *trace.Event, refused bool) bool {
	return slices.ContainsFunc(s.UnderWay, func(r *trace.Request) bool {
		if r.Process != call.Process || r.Ledger || isBlocked(s, r) {
			return false
		}
		if r.Call == 0 {
			return isSubscribe(&s.Trace.Events[max(r.Sent, 0)]) && !refused
		}
		return slices.ContainsFunc(s.Calls, func(c *trace.Event) bool { return c.Call == r.Call })
	})
}

// isAsking reports whether a command of the call or of an Unlock is on its way, or the reply to
// another client's successful acquire. While there is a key, an Unlock counts also if its process is
// paused or has no network.
func isAsking(s *trace.Scene, call *trace.Event) bool {
	stuck := func(c *trace.Event) bool { return c.Op == trace.OpUnlock && s.Condition(c.Process).Away() }
	return len(s.Keys) > 0 && slices.ContainsFunc(s.Calls, stuck) || slices.ContainsFunc(s.UnderWay, func(r *trace.Request) bool {
		if r.Call == call.Call {
			return !isBlocked(s, r)
		}
		granted := r.Executed >= 0 && s.Trace.Events[r.Executed].Effects.Include(trace.Installed)
		return slices.ContainsFunc(s.Calls, func(c *trace.Event) bool {
			return c.Call == r.Call && (c.Op == trace.OpUnlock || trace.IsAcquire(c.Op) && granted)
		})
	})
}

// isBlocked reports whether Redis lets the request wait until there is something in a list.
func isBlocked(s *trace.Scene, r *trace.Request) bool {
	if r.Sent < 0 || r.Executed >= 0 {
		return false
	}
	command := s.Trace.Events[r.Sent].Command
	return len(command) > 0 && (command[0] == "BLPOP" || command[0] == "BRPOP")
}

package oracle

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	renewsLate  = i18n.New("{client}'s {command} for {label} reached Redis after its Unlock had returned")
	renewsOver  = i18n.New("{client} renews a lock that it unlocked {time} ago")
	notRenewed  = i18n.New("{client}'s lock expired while {client} held it: the watchdog did not renew it")
	notAccepted = i18n.New("{client}'s lock expired while {client} held it: Redis refused the renewal: {error}")
	renewsShut  = i18n.New("{client} renews a lock that it closed {time} ago")
	renewsOften = i18n.New("{client} re-entered its lock, and renewed it {n} times in one lease")
)

// watchdog reports keys that expired although the holder's watchdog could have
// renewed them, and renewals of holds that have ended.
func watchdog(f *file) func(*trace.Scene) {
	renewal := renewals(f.Trace)
	over := &finished{file: f, held: map[string]string{}, over: map[string]int{}}
	dogs := map[string]*dog{}
	return func(s *trace.Scene) {
		e := s.Event
		d := dogs[e.Process]
		if d == nil {
			d = &dog{}
			dogs[e.Process] = d
		}
		if e.Kind == trace.Expired {
			expired(f, s, dogs)
		}
		d.follow(s, renewal)
		if label := over.follow(s); label != "" {
			f.report(e, renewsLate, "command", shape(e), "label", label)
		}
		if e.Kind == trace.Sent && renewal(e) && d.over != "" && e.At-d.since > Grace(f.Trace) && !over.isComing(s) {
			f.report(e, d.over, "time", (e.At - d.since).Truncate(time.Millisecond))
		}
	}
}

// finished knows which key belongs to which hold, and which holds are released. A background
// command for a released hold is too late, unless it was on its way before and finds nothing
// to renew.
type finished struct {
	*file
	held map[string]string // client → the label of its hold
	over map[string]int    // label → the index of the event with which it was given back
}

// follow returns the label of a released hold if a background command is about it.
func (f *finished) follow(s *trace.Scene) string {
	e := s.Event
	switch {
	case e.Acquires() && s.Holds(e.Client) == 1:
		f.held[e.Client] = f.made(e.Call)
	case e.Kind == trace.Returned && e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone && s.Holds(e.Client) == 0:
		f.over[f.held[e.Client]] = s.Index
	case e.Kind == trace.Executed && e.Background:
		for _, label := range e.Command {
			since, isOver := f.over[label]
			if r := s.Request; isOver && (r == nil || r.Sent > since || len(e.Effects) > 0) {
				return label
			}
		}
	}
	return ""
}

// made returns the label that a call installed last, "" if it has installed nothing.
func (f *finished) made(call int) string {
	if all := f.calls[call].installed; len(all) > 0 {
		return all[len(all)-1].Label
	}
	return ""
}

// isComing reports whether a command is about the key of a call that is still under way: if the
// grant is slow, a renewal may be due before the call returns.
func (f *finished) isComing(s *trace.Scene) bool {
	return slices.ContainsFunc(s.Calls, func(c *trace.Event) bool {
		label := f.made(c.Call)
		return label != "" && slices.Contains(s.Event.Command, label)
	})
}

// expired reports keys that expired although their watchdog had time to renew. A lock may stop
// renewing a hold and tell its holder in time. It may not do so because of an error, nor if it has
// renewed an earlier hold and never this one. A lock without a watchdog renews nothing.
func expired(f *file, s *trace.Scene, dogs map[string]*dog) {
	e := s.Event
	for _, effect := range e.Effects {
		owner := effect.Owner
		d := dogs[owner.Process]
		if effect.Kind != trace.Lapsed || s.Holds(owner.Client) == 0 || d == nil {
			continue
		}
		hindered := s.Condition(owner.Process).Away() || d.hindered > 0 && e.At-d.hindered <= f.Lease/3+Grace(f.Trace)
		forgotten := d.renews && e.At-d.acquired > f.Lease/2 && d.lastHeard < owner.Call
		isTold := func(x trace.Event) bool {
			return x.Kind == trace.Lost && x.Client == owner.Client && x.At-e.At <= f.Slack
		}
		ended := d.lastHeard < owner.Call && !f.about || !d.failed && slices.ContainsFunc(f.Events[s.Index:], isTold)
		if hindered || ended && !forgotten {
			continue
		}
		if d.refusal != "" {
			f.reportOf(owner.Client, e, notAccepted, "error", d.refusal)
		} else {
			f.reportOf(owner.Client, e, notRenewed)
		}
	}
}

// dog is the watchdog of one process, as far as a trace shows it.
type dog struct {
	lastAcquire int           // the newest call that gave a client of the process the lock
	lastHeard   int           // the newest such call when it sent its last command
	acquired    time.Duration // when that call returned
	renews      bool          // it has given a key of the process a new lease
	failed      bool          // its last command was refused
	refusal     string        // the error that Redis itself answered to its last command; "": none
	hindered    time.Duration // when something last kept it from renewing
	over        i18n.Text     // why a renewal is wrong now: all holds of the process are released, or it has closed the lock
	since       time.Duration // when the last hold was released, or the lock was closed
}

func (d *dog) follow(s *trace.Scene, renewal func(*trace.Event) bool) {
	e := s.Event
	switch e.Kind {
	case trace.Thawed, trace.Healed:
		d.hindered = e.At
	case trace.Refused, trace.Dropped, trace.Delayed:
		if e.Background {
			d.failed = d.failed || e.Kind == trace.Refused
			if !strings.Contains(e.Reply, "same slot") { // otherwise it could send a command for each key
				d.hindered = e.At
			}
		}
	case trace.Sent:
		if e.Background && e.Command[0] != "SUBSCRIBE" && e.Command[0] != "PING" {
			d.lastHeard, d.failed = d.lastAcquire, false
		}
	case trace.Executed:
		d.renews = d.renews || renewal(e)
		if e.Background {
			d.refusal = ""
			if e.IsError() {
				d.refusal = inScript.ReplaceAllString(strings.TrimPrefix(e.Reply, trace.ErrorPrefix), "")
			}
		}
	}
	if e.Acquires() {
		d.lastAcquire, d.acquired, d.failed, d.over = e.Call, e.At, false, ""
		return
	}
	gaveBack := e.Kind == trace.Lost || e.Kind == trace.Returned && e.Op == trace.OpUnlock
	if gaveBack && d.lastAcquire > 0 && !s.Believes(e.Process) {
		d.over, d.since = renewsOver, e.At
	}
	if e.Kind == trace.Returned && e.Op == trace.OpClose {
		d.over, d.since = renewsShut, e.At
	}
}

// inScript is what miniredis and Redis put around the error of a command in a script.
var inScript = regexp.MustCompile(`^ERR Error compiling script \(new function\): [^:]*:\d*: | (?:stack traceback:|script: ).*$`)

// renewals returns a predicate for renewals: background commands with the shape of one that renewed
// a key somewhere in the trace.
func renewals(tr *trace.Trace) func(*trace.Event) bool {
	var known []string
	for _, s := range tr.Scenes() {
		e := s.Event
		if e.Kind == trace.Executed && e.Background && e.Effects.Include(trace.Leased) && !slices.Contains(known, shape(e)) {
			known = append(known, shape(e))
		}
	}
	return func(e *trace.Event) bool { return e.Background && slices.Contains(known, shape(e)) }
}

// shape returns the kind of a command: its name, or for a script, which script.
func shape(e *trace.Event) string {
	if len(e.Command) > 1 && strings.HasPrefix(e.Command[0], "EVAL") {
		return e.Command[1]
	}
	if len(e.Command) > 0 {
		return e.Command[0]
	}
	return ""
}

// renewalCount reports processes that renew a key more often after a re-entry, each once. Four
// renewals in a lease are right for any lock, and one more is allowed for the edges.
func renewalCount(f *file) func(*trace.Scene) {
	renewal := renewals(f.Trace)
	type place struct{ process, key string }
	renewed := map[place][]*trace.Event{} // the renewals of the last lease
	most := map[string]int{}              // process → how often it renews in a lease without a re-entry
	told := map[string]bool{}
	return func(s *trace.Scene) {
		e := s.Event
		if e.Kind != trace.Executed || !renewal(e) {
			return
		}
		at := place{process: e.Process} // no key if it found nothing
		for _, x := range e.Effects {
			at.key = x.Key
		}
		recent := append(renewed[at], e)
		for e.At-recent[0].At >= f.Lease {
			recent = recent[1:]
		}
		renewed[at] = recent
		again := func(client string) bool { return s.Process(client) == e.Process && s.Holds(client) > 1 }
		switch {
		case !slices.ContainsFunc(s.Clients(), again):
			most[e.Process] = max(most[e.Process], len(recent))
		case len(recent) > max(4, most[e.Process]+1) && !told[e.Process]:
			told[e.Process] = true
			f.report(e, renewsOften, "n", len(recent))
		}
	}
}

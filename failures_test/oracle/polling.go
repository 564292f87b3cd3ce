package oracle

import (
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var commandCountText = i18n.New("{client} sent {n} commands while it waited (limit {most})")

// Limits for the commands of a waiter that listens.
const (
	toBegin    = 4 // try, subscribe, try, and leave
	perRelease = 2 // each time the lock comes free, or a fault strikes
	perLease   = 3 // by the timer, for each lease of waiting
)

// listener is a process whose waiters have subscribed to something.
type listener struct {
	subscribed bool
	waiters    int
	allowed    int           // commands, without those of the timer
	waited     time.Duration // of all its waiters
	since      time.Duration // until when waited has been added up
	sent       int
	told       bool
}

// countCommands reports processes whose waiters keep asking. If the story is not about polling,
// only waiters that listen for messages are judged: the others have to ask.
func countCommands(f *file) func(*trace.Scene) {
	listeners := map[string]*listener{}
	waiting := map[int]*listener{} // call → its process
	return func(s *trace.Scene) {
		e := s.Event
		freed := e.Effects.Include(trace.Removed, trace.Lapsed)
		for _, l := range listeners {
			l.waited += time.Duration(l.waiters) * (e.At - l.since)
			l.since = e.At
			if freed {
				l.allowed += perRelease * l.waiters
			}
		}
		if e.Process == "" {
			return
		}
		l := listeners[e.Process]
		if l == nil {
			l = &listener{since: e.At}
			listeners[e.Process] = l
		}
		l.follow(e, waiting)
		// Renewals of a holder do not count, nor pings that keep a connection open.
		if e.Kind == trace.Sent && l.waiters > 0 && e.Command[0] != "PING" && (e.Op == trace.OpLock || e.Background && !s.Believes(e.Process)) {
			l.sent++
		}
		isJudged := l.subscribed || f.rule == Polling
		looks := perLease * (l.waited + time.Millisecond)
		if f.Slack > 0 && f.rule != Polling { // in real time, a process looks at the locks of two waiters at two moments
			looks *= 2
		}
		if most := l.allowed + int(looks/f.Lease); isJudged && l.sent > most && !l.told {
			l.told = true
			f.report(e, commandCountText, "n", l.sent, "most", most)
		}
	}
}

func (l *listener) follow(e *trace.Event, waiting map[int]*listener) {
	switch e.Kind {
	case trace.Called:
		if e.Op == trace.OpLock {
			waiting[e.Call] = l
			l.waiters++
			l.allowed += toBegin
		}
	case trace.Returned, trace.Blocked:
		if waiting[e.Call] == l {
			delete(waiting, e.Call)
			l.waiters--
		}
	case trace.Dropped, trace.Refused, trace.Delayed, trace.Thawed, trace.Healed:
		l.allowed += perRelease
	case trace.Sent:
		l.subscribed = l.subscribed || isSubscribe(e)
	}
}

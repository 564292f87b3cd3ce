package oracle

import (
	"fmt"
	"time"

	"lockkata/failures_test/world"
)

// What a waiter that listens may send without being called idle chatter.
const (
	toBegin    = 4 // try, subscribe, try, and leave
	perRelease = 2 // each time the lock comes free, or a fault strikes
	perLease   = 3 // asked by the timer, each lease of waiting
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

// commandCount finds processes whose waiters listen for messages and nevertheless
// keep asking. Locks that poll are not judged: asking is all they can do.
func commandCount(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	listeners := map[string]*listener{}
	waiting := map[int]*listener{} // call → its process
	for _, e := range trace.Events {
		b.follow(e)
		freed := false
		for _, effect := range e.Effects {
			freed = freed || effect.Kind == world.Removed || effect.Kind == world.Lapsed
		}
		for _, l := range listeners {
			l.waited += time.Duration(l.waiters) * (e.At - l.since)
			l.since = e.At
			if freed {
				l.allowed += perRelease * l.waiters
			}
		}
		if e.Process == "" {
			continue
		}
		l := listeners[e.Process]
		if l == nil {
			l = &listener{since: e.At}
			listeners[e.Process] = l
		}
		l.follow(e, waiting)
		if e.Kind == world.Sent && l.counts(e, b) {
			l.sent++
		}
		if most := l.most(trace.Lease); l.subscribed && l.sent > most && !l.told {
			l.told = true
			found = append(found, findingAt(e, fmt.Sprintf(
				"%s only waits, and sends its command number %d; %d would do", e.Client, l.sent, most)))
		}
	}
	return found
}

func (l *listener) follow(e world.Event, waiting map[int]*listener) {
	switch e.Kind {
	case world.Called:
		if e.Op == world.OpLock {
			waiting[e.Call] = l
			l.waiters++
			l.allowed += toBegin
		}
	case world.Returned, world.Blocked:
		if waiting[e.Call] == l {
			delete(waiting, e.Call)
			l.waiters--
		}
	case world.Dropped, world.Refused, world.Delayed, world.Thawed, world.Healed:
		l.allowed += perRelease
	case world.Sent:
		l.subscribed = l.subscribed || e.Command[0] == "SUBSCRIBE"
	}
}

// counts tells whether a command is one of the waiters': not what a holder's
// watchdog sends, nor the ping that keeps a connection open.
func (l *listener) counts(e world.Event, b *beliefs) bool {
	if l.waiters == 0 || e.Command[0] == "PING" {
		return false
	}
	return e.Op == world.OpLock || e.Background && !b.inside(e.Process)
}

func (l *listener) most(lease time.Duration) int {
	return l.allowed + int(perLease*l.waited/lease)
}

// inside tells whether anybody in that process believes.
func (b *beliefs) inside(process string) bool {
	for lane, n := range b.holds {
		if n > 0 && b.lanes[lane] == process {
			return true
		}
	}
	return false
}

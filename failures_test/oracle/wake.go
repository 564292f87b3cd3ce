package oracle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lockkata/failures_test/world"
)

// idle is a waiter with nothing to wait for: the lock is free, its process runs,
// and none of its commands is on its way.
type idle struct {
	call  world.Event
	since time.Duration
	told  bool
}

// lostWakeUp finds those that wait in Lock although the lock is free. Somebody has
// freed it, or its lease has ended: what Redis loses by itself, or a command of
// the business's own removes, wakes nobody and is not judged.
func lostWakeUp(trace *world.Trace) []Finding {
	var found []Finding
	p := newPresence()
	open := map[int]*idle{}
	for n, e := range trace.Events {
		for _, call := range slices.Sorted(maps.Keys(open)) {
			w := open[call]
			if p.excuses(w.call.Process) {
				w.since = e.At
			}
			if e.At-w.since > Grace(trace) && !w.told {
				w.told = true
				found = append(found, Finding{
					Step: e.Step, At: e.At, Client: w.call.Client,
					Text: fmt.Sprintf("%s waits beside a free lock: nobody has woken it", w.call.Client),
				})
			}
		}
		switch {
		case e.Kind == world.Called && e.Op == world.OpLock:
			open[e.Call] = &idle{call: e, since: e.At}
		case e.Kind == world.Returned || e.Kind == world.Cancelled || e.Kind == world.Blocked:
			delete(open, e.Call)
		}
		p.follow(trace, n)
	}
	return found
}

// presence is what keeps a waiter from noticing that the lock is free.
type presence struct {
	taken   bool             // there is a key, or its end is no client's doing
	away    map[string]bool  // processes that are frozen, dead or without a network
	sending map[string]*trip // commands that are on their way
}

// trip is one command between a client and Redis, or several that look the same.
type trip struct {
	process string
	call    int
	times   int
}

func newPresence() *presence {
	return &presence{taken: true, away: map[string]bool{}, sending: map[string]*trip{}}
}

// excuses tells whether a waiter of that process has a reason to wait.
func (p *presence) excuses(process string) bool {
	if p.taken || p.away[process] {
		return true
	}
	for _, t := range p.sending {
		if t.times > 0 && t.process == process {
			return true
		}
	}
	return false
}

func (p *presence) follow(trace *world.Trace, n int) {
	e := trace.Events[n]
	switch e.Kind {
	case world.Frozen, world.Crashed, world.Cut:
		p.away[e.Process] = true
	case world.Thawed, world.Healed:
		p.away[e.Process] = false
	case world.Sent, world.Delivered, world.Dropped:
		p.carry(e)
	case world.Returned:
		maps.DeleteFunc(p.sending, func(_ string, t *trip) bool { return t.call == e.Call })
	case world.Executed, world.Expired:
		if len(lastKeys(trace, n)) > 0 {
			p.taken = true
		} else if len(e.Effects) > 0 && e.Op != world.OpRun {
			p.taken = false
		}
	}
}

// carry follows a command to Redis and back. One of the background counts only if
// it is about listening: nobody waits for a renewal.
func (p *presence) carry(e world.Event) {
	if len(e.Command) == 0 || e.Background && e.Command[0] != "SUBSCRIBE" {
		return
	}
	id := fmt.Sprint(e.Process, e.Call, e.Line())
	t := p.sending[id]
	if t == nil {
		t = &trip{process: e.Process, call: e.Call}
		p.sending[id] = t
	}
	if e.Kind == world.Sent {
		t.times++
	} else {
		t.times--
	}
}

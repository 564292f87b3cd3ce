package oracle

import (
	"slices"
	"strconv"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	twoInsideText      = i18n.New("{client} is inside the lock while {other} still is")
	shortLeaseText     = i18n.New("{what}: {why}")
	duplicateOrderText = i18n.New("the ledger has the order {order} twice, from {first} and from {second}")
	refusedNewestText  = i18n.New("the ledger refuses the token of {client}, the newest holder")
)

// exclusion reports clients that get the lock while another one believes that it holds it. A holder
// whose key another client removed cannot know at once: it is excused if it is told in time.
func exclusion(f *file) func(*trace.Scene) {
	taken := map[string]time.Duration{} // client → when its key was taken away
	short := map[string]i18n.Message{}  // client → that its lease is shorter than it asked for
	return func(s *trace.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			if got, ok := leaseOf(s, effect); ok && e.Kind == trace.Executed {
				delete(short, effect.Owner.Client)
				if got+f.Slack+time.Millisecond < f.Lease {
					short[effect.Owner.Client] = wrongLeaseText.Args("client", effect.Owner.Client, "asked", f.Lease, "command", shape(e), "time", got)
				}
			}
			switch {
			case effect.Kind == trace.Installed:
				delete(taken, effect.Owner.Client)
			case effect.Kind == trace.Removed && (e.Kind == trace.Server || e.Kind == trace.Executed && e.Process != effect.Owner.Process):
				taken[effect.Owner.Client] = e.At
			}
		}
		if !e.Acquires() {
			return
		}
		for _, other := range s.Others(e.Client) {
			at, gone := taken[other]
			if gone && isToldInTime(f, other, s.Process(other), at) {
				continue
			}
			if why, is := short[other]; is && !owns(f.Trace, s.Keys, other) {
				f.report(e, shortLeaseText, "what", twoInsideText.Args("client", e.Client, "other", other), "why", why)
			} else {
				f.report(e, twoInsideText, "other", other)
			}
			f.note(f.last(e, func(sent *trace.Event) bool { return sent.Call == e.Call && overwritesOf(sent, other) }))
			break
		}
	}
}

// overwritesOf reports whether a command has put another entry in the place of a client's.
func overwritesOf(e *trace.Event, client string) bool {
	return slices.ContainsFunc(e.Effects, func(x trace.Effect) bool { return x.Kind == trace.Overwritten && x.Owner.Client == client })
}

// isToldInTime reports whether a client whose key was taken away is told within a third of a lease,
// or, if that takes longer, by the first answer that its watchdog gets within a lease.
func isToldInTime(f *file, client, process string, taken time.Duration) bool {
	by, asks := taken+f.Lease/3, false
	for _, e := range f.Events {
		if e.At >= taken && e.At <= taken+f.Lease && e.Kind == trace.Executed && e.Background && e.Process == process && !asks {
			by, asks = max(by, e.At), true
		}
		if e.At >= taken && e.Kind == trace.Lost && e.Client == client {
			return e.At <= by+Grace(f.Trace)
		}
	}
	return false
}

// Noticed reports whether a holder was told that its hold is lost while it still believed in it.
func Noticed(tr *trace.Trace) bool {
	return slices.ContainsFunc(tr.Scenes(), func(s *trace.Scene) bool {
		return s.Event.Kind == trace.Lost && s.Before.Holds(s.Event.Client) > 0
	})
}

// damage reports orders that are in the ledger twice, and a refused token of the newest holder.
func damage(f *file) func(*trace.Scene) {
	newest := "" // the client that got the lock last
	return func(s *trace.Scene) {
		e := s.Event
		if e.Acquires() {
			newest = e.Client
		}
		if e.IsStale() && e.Client == newest {
			f.report(e, refusedNewestText)
		}
		for n := len(s.Before.Orders); n < len(e.Orders); n++ {
			same := func(o trace.Order) bool { return o.Name == e.Orders[n].Name }
			if first := slices.IndexFunc(e.Orders[:n], same); first >= 0 {
				f.report(e, duplicateOrderText, "order", strconv.Quote(e.Orders[n].Name), "first", e.Orders[first].Client, "second", e.Orders[n].Client)
			}
		}
	}
}

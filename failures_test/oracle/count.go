package oracle

import (
	"strconv"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	failedCountText   = i18n.New("HoldCount of {client} failed with {error}, but the key in Redis is {client}'s own")
	redisCountText    = i18n.New("{client} holds the lock {times}, but Redis counts {n}")
	reportedCountText = i18n.New("HoldCount of {client} returned {told}, but Redis counts {n}")
	reportedHoldsText = i18n.New("HoldCount of {client} returned {told}, but {client} holds the lock {times}")
	zeroTimesText     = i18n.New("0 times")
	timesText         = i18n.NewPlural("once", "{n} times")
)

// holdCount compares the number of a client's holds with the count in Redis and with
// the result of HoldCount. It checks when a call of the client has returned with a clear
// result. The number is not compared while the client has a hold that the end of its lease, or another
// client, has taken away. A lock whose key is not a hash counts elsewhere; its HoldCount has to be right, too.
func holdCount(f *file) func(*trace.Scene) {
	lost := map[string]bool{} // clients with such a hold
	return func(s *trace.Scene) {
		e := s.Event
		for _, x := range e.Effects {
			isGone := x.Kind == trace.Lapsed || x.Kind == trace.Removed || x.Kind == trace.Overwritten
			if client := x.Owner.Client; isGone && client != e.Client && s.Holds(client) > 0 {
				lost[client] = true
			}
		}
		if e.Kind == trace.Returned && e.Op == trace.OpCount && e.Result.Claim == trace.ClaimRefused && s.Holds(e.Client) > 0 && owns(f.Trace, s.Keys, e.Client) {
			f.report(e, failedCountText, "error", e.Result.Error)
		}
		if e.Kind != trace.Returned || e.Op == trace.OpRun || e.Result.Claim != trace.ClaimDone {
			return
		}
		if _, busy := s.Call(e.Client); busy {
			return
		}
		lost[e.Client] = lost[e.Client] && s.Holds(e.Client) > 0
		counted, there := countOf(e.Client, s.Keys)
		elsewhere := !there && owns(f.Trace, s.Keys, e.Client)
		switch taken := s.Holds(e.Client); {
		case there && !lost[e.Client] && counted != taken*len(f.Locks(e.Client)):
			f.report(e, redisCountText, "times", times(taken), "n", counted)
		case e.Op != trace.OpCount:
		case elsewhere && e.Result.Count != taken:
			f.report(e, reportedHoldsText, "told", e.Result.Count, "times", times(taken))
		case !elsewhere && e.Result.Count != counted:
			f.report(e, reportedCountText, "told", e.Result.Count, "n", counted)
		}
	}
}

func times(n int) i18n.Message {
	if n == 0 {
		return zeroTimesText.Args()
	}
	return timesText.Of(n)
}

// countOf adds up the counts of a client in the hashes that Redis holds: "A1=2".
func countOf(client string, keys []trace.Key) (count int, there bool) {
	for _, key := range keys {
		for _, entry := range key.Entries {
			if n, err := strconv.Atoi(entry.Value); err == nil && entry.Counts && entry.Owner.Client == client {
				count, there = count+n, true
			}
		}
	}
	return count, there
}

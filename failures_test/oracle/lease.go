package oracle

import (
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var wrongLeaseText = i18n.New("{client} asked for a lease of {asked}, but its {command} set {time}")

// leaseAsked reports keys whose lease is not the one asked for. An Unlock may leave a short one, and a command
// may set the lease that is left.
func leaseAsked(f *file) func(*trace.Scene) {
	told := map[string]bool{}
	return func(s *trace.Scene) {
		e := s.Event
		if e.Kind != trace.Executed || e.Op == trace.OpRun || told[e.Client] {
			return
		}
		for _, x := range e.Effects {
			got, ok := leaseOf(s, x)
			was, isLeased := ttlOf(s.Before.Keys, x.Key, e.Server)
			if keeps := x.Kind == trace.Leased && isLeased && got >= was-(e.At-s.Before.KeysAt); ok && (got > 2*f.Lease || !keeps && got+f.Slack < f.Lease*2/3 && (trace.IsAcquire(e.Op) || e.Background)) {
				told[e.Client] = true
				f.report(e, wrongLeaseText, "asked", f.Lease, "command", shape(e), "time", got)
				return
			}
		}
	}
}

// leaseOf returns the lease that an effect of the scene's command has set, if it has set one. A command that Redis has
// refused sets none.
func leaseOf(s *trace.Scene, x trace.Effect) (lease time.Duration, ok bool) {
	if x.Kind != trace.Installed && x.Kind != trace.Leased || s.Event.IsError() {
		return 0, false
	}
	return ttlOf(s.Keys, x.Key, s.Event.Server)
}

// ttlOf returns the time to live of a key on a server, if it has one.
func ttlOf(keys []trace.Key, name, server string) (ttl time.Duration, ok bool) {
	at := slices.IndexFunc(keys, func(k trace.Key) bool { return k.Name == name && k.Server == server && k.TTL != trace.NoTTL })
	if at < 0 {
		return 0, false
	}
	return keys[at].TTL, true
}

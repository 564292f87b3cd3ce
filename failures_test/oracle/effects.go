package oracle

import (
	"cmp"
	"slices"

	"lockkata/failures_test/trace"
)

// callEffects is the state of one call, and what its commands did in Redis.
type callEffects struct {
	left      bool // its context was cancelled, or the scenario no longer waits for it
	hindered  bool // one of its commands was refused or lost, or Redis answered it with an error
	installed []trace.Owner
	freed     []string     // the servers where it removed an entry of its client, or decremented the count
	owned     bool         // got, saw or left entries of its client on most of the servers
	met       bool         // saw, or left, an entry of any client
	removed   bool         // it removed a key of any client
	refused   *trace.Event // its last command, if Redis refused it
	first     *trace.Event // its first command that Redis refused
}

// byCall are the effects of each call. All rules share them.
type byCall map[int]callEffects

func (b byCall) follow(tr *trace.Trace, e *trace.Event) {
	d := b[e.Call]
	switch {
	case e.Call == 0:
		return
	case e.Kind == trace.Cancelled || e.Kind == trace.Blocked:
		d.left = true
	case e.Kind == trace.Refused:
		d.refused, d.hindered = e, true
		d.first = cmp.Or(d.first, e)
	case e.Kind == trace.Dropped:
		d.hindered = true
	case e.Kind != trace.Executed:
		return
	default:
		d.refused, d.hindered = nil, d.hindered || e.IsError()
	}
	for _, effect := range e.Effects {
		d.removed = d.removed || effect.Kind == trace.Removed
		switch {
		case effect.Kind == trace.Installed:
			d.installed = append(d.installed, effect.Owner)
			granted := slices.DeleteFunc(slices.Clone(d.installed), func(o trace.Owner) bool { return o != effect.Owner })
			d.owned = d.owned || tr.IsMajority(len(granted))
		case (effect.Kind == trace.Removed || effect.Kind == trace.Counted) && effect.Owner.Client == e.Client && !slices.Contains(d.freed, e.Server):
			d.freed = append(d.freed, e.Server)
		}
	}
	d.met = d.met || len(e.Keys) > 0
	d.owned = d.owned || owns(tr, e.Keys, e.Client)
	b[e.Call] = d
}

// hasFreed reports whether a call has freed its client's lock on most of the servers.
func (f *file) hasFreed(call int) bool { return f.IsMajority(len(f.calls[call].freed)) }

// owns reports whether most of the servers have a key that belongs to the client.
func owns(tr *trace.Trace, keys []trace.Key, client string) bool {
	return onMost(tr, keys, func(k trace.Key) bool { return k.Owner.Client == client })
}

// onMost reports whether most of the servers have a key of some kind. The keys are sorted by server.
func onMost(tr *trace.Trace, keys []trace.Key, is func(trace.Key) bool) bool {
	servers, last := 0, ""
	for _, k := range keys {
		if is(k) && (servers == 0 || k.Server != last) {
			servers, last = servers+1, k.Server
		}
	}
	return tr.IsMajority(servers)
}

package oracle

import (
	"fmt"
	"maps"
	"slices"

	"lockkata/failures_test/world"
)

func sortedLabels(m map[string]*installation) []string { return slices.Sorted(maps.Keys(m)) }

// deeds is what the commands of one call did in Redis.
type deeds struct {
	installed []world.Owner
	freed     bool // removed an entry of its own client, or took one from its count
	owned     bool // saw, or left, an entry of its own client
	met       bool // saw, or left, an entry of anybody
}

// deedsOf collects, for each call, what its commands did.
func deedsOf(trace *world.Trace) map[int]*deeds {
	all := map[int]*deeds{}
	for _, e := range trace.Events {
		if e.Call == 0 || e.Kind != world.Executed {
			continue
		}
		d := all[e.Call]
		if d == nil {
			d = &deeds{}
			all[e.Call] = d
		}
		for _, effect := range e.Effects {
			switch {
			case effect.Kind == world.Installed:
				d.installed = append(d.installed, effect.Owner)
			case (effect.Kind == world.Removed || effect.Kind == world.Counted) && effect.Owner.Client == e.Client:
				d.freed = true
			}
		}
		for _, key := range e.Keys {
			d.met = true
			d.owned = d.owned || key.Owner.Client == e.Client
		}
	}
	return all
}

func truth(trace *world.Trace) []Finding {
	var found []Finding
	all := deedsOf(trace)
	taken := map[string]int{} // lane → how often it was given the lock and has not called Unlock
	owed := map[int]bool{}    // calls of Unlock that have a hold to give back
	for n, e := range trace.Events {
		if e.Kind == world.Called && e.Op == world.OpUnlock && taken[e.Client] > 0 {
			taken[e.Client]--
			owed[e.Call] = true
		}
		if e.Kind != world.Returned {
			continue
		}
		did := all[e.Call]
		if did == nil {
			did = &deeds{}
		}
		if text := lie(e, did, lastKeys(trace, n), owed[e.Call]); text != "" {
			found = append(found, findingAt(e, text))
		}
		if e.Result.Held {
			taken[e.Client]++
		}
	}
	return append(found, falseLosses(trace)...)
}

// lie says in what a result disagrees with what the call did, "" if it agrees.
func lie(e world.Event, did *deeds, keys []world.Key, owed bool) string {
	switch {
	case e.Result.Claim == world.ClaimPanic:
		return fmt.Sprintf("%s of %s ends in a %s", e.Op, e.Client, e.Result.Error)
	case isAcquire(e.Op) && e.Result.Held && len(did.installed) == 0 && !did.owned && !isAmong(keys, e.Client):
		return fmt.Sprintf("%s tells %s that it holds the lock, but it never was its own", e.Op, e.Client)
	case isAcquire(e.Op) && e.Result.Claim == world.ClaimRefused && !did.met && len(keys) == 0:
		return fmt.Sprintf("%s tells %s that somebody else holds the lock, but nobody does", e.Op, e.Client)
	case isAcquire(e.Op) && e.Result.Claim == world.ClaimRefused:
		for _, key := range keys {
			if slices.Contains(did.installed, key.Owner) {
				return fmt.Sprintf("%s tells %s that somebody else holds the lock, but the key in Redis is %s's own", e.Op, e.Client, e.Client)
			}
		}
	case e.Op == world.OpUnlock && e.Result.Claim == world.ClaimRefused && did.freed:
		return fmt.Sprintf("Unlock tells %s that it does not hold the lock, but this very call has freed it", e.Client)
	case e.Op == world.OpUnlock && e.Result.Claim == world.ClaimRefused && isAmong(keys, e.Client):
		return fmt.Sprintf("Unlock tells %s that it does not hold the lock, but the key in Redis is its own", e.Client)
	case e.Op == world.OpUnlock && e.Result.Claim == world.ClaimDone && !did.freed && !owed:
		return fmt.Sprintf("Unlock tells %s that all is well, but it held nothing to give back", e.Client)
	}
	return ""
}

// isAmong tells whether one of the keys is the client's.
func isAmong(keys []world.Key, client string) bool {
	return slices.ContainsFunc(keys, func(k world.Key) bool { return k.Owner.Client == client })
}

func lossNoticed(trace *world.Trace) []Finding {
	var found []Finding
	all := deedsOf(trace)
	mine := map[string]bool{} // lane → its hold is still in Redis
	lost := map[string]bool{} // lane → its hold went away while it believed
	b := newBeliefs()
	for _, e := range trace.Events {
		for _, effect := range e.Effects {
			owner := effect.Owner.Client
			switch effect.Kind {
			case world.Installed:
				mine[owner] = true
			case world.Lapsed, world.Removed, world.Overwritten:
				if mine[owner] && b.holds[owner] > 0 {
					lost[owner] = true
				}
				mine[owner] = false
			}
		}
		if b.follow(e) != "" {
			lost[e.Client] = !mine[e.Client]
		}
		if e.Kind != world.Returned || e.Op != world.OpUnlock {
			continue
		}
		did := all[e.Call]
		if lost[e.Client] && e.Result.Claim == world.ClaimDone && (did == nil || !did.freed) {
			found = append(found, findingAt(e, fmt.Sprintf(
				"Unlock tells %s that all is well, but it had lost the lock before", e.Client)))
		}
		if b.holds[e.Client] == 0 { // with a hold left, its Unlock has to say so too
			lost[e.Client] = false
		}
	}
	return found
}

package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockkata/failures_test/world"
)

// effects is what the commands of one call did in Redis.
type effects struct {
	installed []world.Owner
	freed     bool // removed an entry of its own client, or took one from its count
	owned     bool // saw, or left, an entry of its own client
	met       bool // saw, or left, an entry of anybody
}

// byCall are the effects of calls.
type byCall map[int]*effects

func (b byCall) of(call int) *effects {
	d := b[call]
	if d == nil {
		d = &effects{}
		b[call] = d
	}
	return d
}

func (b byCall) follow(e world.Event) {
	if e.Call == 0 || e.Kind != world.Executed {
		return
	}
	d := b.of(e.Call)
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

func truth(f *file) func(*world.Scene) {
	did := byCall{}
	owed := map[int]bool{}    // calls of Unlock that have a hold to give back
	taken := map[string]int{} // lane → how often it was given the lock and has not called Unlock
	freed := map[int]bool{}   // acquires whose entry was removed by their own client
	return func(s *world.Scene) {
		e := s.Event
		did.follow(e)
		for _, effect := range e.Effects {
			if effect.Kind == world.Removed && e.Kind == world.Executed && e.Client == effect.Owner.Client {
				freed[effect.Owner.Call] = true
			}
		}
		switch {
		case e.Kind == world.Called && e.Op == world.OpUnlock && taken[e.Client] > 0:
			taken[e.Client]--
			owed[e.Call] = true
		case e.Kind == world.Lost && freed[e.Call]:
			f.convict(e, "the lock tells %s that its hold is lost, but %[1]s has given it back itself", e.Client)
		case e.Kind == world.Returned:
			if text := contradiction(e, did.of(e.Call), s.Keys, owed[e.Call]); text != "" {
				f.convict(e, "%s", text)
			}
			if e.Result.Held {
				taken[e.Client]++
			}
		}
	}
}

// contradiction says in what a result disagrees with what the call did, "" if it agrees.
func contradiction(e world.Event, did *effects, keys []world.Key, owed bool) string {
	mine := slices.ContainsFunc(keys, func(k world.Key) bool { return k.Owner.Client == e.Client })
	refused := e.Result.Claim == world.ClaimRefused
	switch {
	case e.Result.Claim == world.ClaimPanic:
		return fmt.Sprintf("%s of %s ends in a %s", e.Op, e.Client, e.Result.Error)
	case isAcquire(e.Op) && e.Result.Held && len(did.installed) == 0 && !did.owned && !mine:
		return fmt.Sprintf("%s tells %s that it holds the lock, but it never was its own", e.Op, e.Client)
	case isAcquire(e.Op) && refused && !did.met && len(keys) == 0:
		return fmt.Sprintf("%s tells %s that somebody else holds the lock, but nobody does", e.Op, e.Client)
	case isAcquire(e.Op) && refused:
		if slices.ContainsFunc(keys, func(k world.Key) bool { return slices.Contains(did.installed, k.Owner) }) {
			return fmt.Sprintf("%s tells %s that somebody else holds the lock, but the key in Redis is %[2]s's own", e.Op, e.Client)
		}
	case e.Op == world.OpUnlock && refused && did.freed:
		return fmt.Sprintf("Unlock tells %s that it does not hold the lock, but this very call has freed it", e.Client)
	case e.Op == world.OpUnlock && refused && mine:
		return fmt.Sprintf("Unlock tells %s that it does not hold the lock, but the key in Redis is its own", e.Client)
	case e.Op == world.OpUnlock && e.Result.Claim == world.ClaimDone && !did.freed && !owed:
		return fmt.Sprintf("Unlock tells %s that all is well, but it held nothing to give back", e.Client)
	}
	return ""
}

func lossNoticed(f *file) func(*world.Scene) {
	did := byCall{}
	mine := map[string]bool{} // lane → its hold is still in Redis
	lost := map[string]bool{} // lane → its hold went away while it believed
	return func(s *world.Scene) {
		e := s.Event
		did.follow(e)
		for _, effect := range e.Effects {
			owner := effect.Owner.Client
			switch effect.Kind {
			case world.Installed:
				mine[owner] = true
			case world.Lapsed, world.Removed, world.Overwritten:
				lost[owner] = lost[owner] || mine[owner] && s.Holds(owner) > 0
				mine[owner] = false
			}
		}
		if e.Acquires() {
			lost[e.Client] = !mine[e.Client]
		}
		if e.Kind != world.Returned || e.Op != world.OpUnlock {
			return
		}
		if lost[e.Client] && e.Result.Claim == world.ClaimDone && !did.of(e.Call).freed {
			f.convict(e, "Unlock tells %s that all is well, but it had lost the lock before", e.Client)
		}
		if s.Holds(e.Client) == 0 { // with a hold left, its Unlock has to say so too
			lost[e.Client] = false
		}
	}
}

// holdCount compares how often a client has taken the lock and not given it back
// with the count in Redis and with what HoldCount says. It looks when a call of
// the client has come back with an answer that leaves no doubt; a hold that Redis
// has lost is no matter of counting.
func holdCount(f *file) func(*world.Scene) {
	owners := map[string]string{} // label → client
	return func(s *world.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			owners[effect.Owner.Label] = effect.Owner.Client
		}
		if e.Kind != world.Returned || e.Result.Claim != world.ClaimDone {
			return
		}
		if _, busy := s.Call(e.Client); busy {
			return
		}
		counted, there := countOf(e.Client, s.Keys, owners)
		switch taken := s.Holds(e.Client); {
		case there && counted != taken:
			f.convict(e, "%s holds the lock %s, but Redis counts %d", e.Client, times(taken), counted)
		case e.Op == world.OpCount && e.Result.Count != counted:
			f.convict(e, "HoldCount tells %s %d, but Redis counts %d", e.Client, e.Result.Count, counted)
		}
	}
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// countOf adds up the client's fields in the hashes that Redis holds: "A1=2".
func countOf(client string, keys []world.Key, owners map[string]string) (count int, there bool) {
	for _, key := range keys {
		if key.Type != "hash" {
			continue
		}
		for field := range strings.FieldsSeq(key.Value) {
			label, value, _ := strings.Cut(field, "=")
			if n, err := strconv.Atoi(value); err == nil && owners[label] == client {
				count, there = count+n, true
			}
		}
	}
	return count, there
}

package oracle

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	panics          = i18n.New("{call} of {client} ends in a {error}")
	saysBoth        = i18n.New("{call} returned both the lock and an error to {client}: {error}")
	saysNothing     = i18n.New("{call} of {client} returned neither the lock nor an error")
	neverOwn        = i18n.New("{call} reported success, but {client} did not get the lock")
	nobodyDoes      = i18n.New("{call} told {client} that another client holds the lock, but no client does")
	failsForNobody  = i18n.New("{call} of {client} failed with {error}, but no client holds the lock")
	otherName       = i18n.New("{call} told {client} that another client holds the lock {asked}, but {owner} holds the lock {held}: both use the key {key}")
	refusedByItself = i18n.New("{call} told {client} that another client holds the lock, but the key in Redis is {client}'s own")
	freedIt         = i18n.New("Unlock told {client} that it does not hold the lock, but this call freed it")
	stillItsOwn     = i18n.New("Unlock told {client} that it does not hold the lock, but the key in Redis is {client}'s own")
	keptIt          = i18n.New("Unlock returned nil, but {client}'s key stayed for {time}")
	nothingToFree   = i18n.New("Unlock returned nil, but {client} did not hold the lock")
	falseLoss       = i18n.New("the lock told {client} that its hold was lost, but {client} had unlocked it itself")
	lossHidden      = i18n.New("Unlock returned nil, but {client} had already lost the lock")
	countFails      = i18n.New("HoldCount of {client} failed with {error}, but the key in Redis is {client}'s own")
	countsOther     = i18n.New("{client} holds the lock {times}, but Redis counts {n}")
	tellsOther      = i18n.New("HoldCount of {client} returned {told}, but Redis counts {n}")
	tellsOtherTimes = i18n.New("HoldCount of {client} returned {told}, but {client} holds the lock {times}")
	notAtAll        = i18n.New("0 times")
	oftener         = i18n.NewPlural("once", "{n} times")
)

// callEffects is the state of one call, and what its commands did in Redis.
type callEffects struct {
	left      bool // its context was cancelled, or the scenario no longer waits for it
	installed []trace.Owner
	freed     bool // removed an entry of its client, or decremented the count
	owned     bool // saw, or left, an entry of its client
	met       bool // saw, or left, an entry of any client
}

// byCall are the effects of each call. All rules share them.
type byCall map[int]callEffects

func (b byCall) follow(e *trace.Event) {
	d := b[e.Call]
	switch {
	case e.Call == 0:
		return
	case e.Kind == trace.Cancelled || e.Kind == trace.Blocked:
		d.left = true
	case e.Kind != trace.Executed:
		return
	}
	for _, effect := range e.Effects {
		switch {
		case effect.Kind == trace.Installed:
			d.installed = append(d.installed, effect.Owner)
		case (effect.Kind == trace.Removed || effect.Kind == trace.Counted) && effect.Owner.Client == e.Client:
			d.freed = true
		}
	}
	for _, key := range e.Keys {
		d.met = true
		d.owned = d.owned || key.Owner.Client == e.Client
	}
	b[e.Call] = d
}

func truth(f *file) func(*trace.Scene) {
	owed := map[int]bool{}    // Unlocks that have a hold to release
	taken := map[string]int{} // client → how many of its acquires it has not unlocked
	freed := map[int]bool{}   // acquires whose entry their client removed
	told := map[string]bool{} // clients that were told of a loss, and have not got the lock since
	kept := kept{}
	return func(s *trace.Scene) {
		e := s.Event
		kept.follow(f, s)
		for _, effect := range e.Effects {
			if effect.Kind == trace.Removed && e.Kind == trace.Executed && e.Client == effect.Owner.Client && e.Op != trace.OpClose {
				freed[effect.Owner.Call] = true
			}
		}
		switch {
		case e.Kind == trace.Called && e.Op == trace.OpUnlock && taken[e.Client] > 0:
			taken[e.Client]--
			owed[e.Call] = true
		case e.Kind == trace.Lost:
			if told[e.Client] = true; freed[e.Call] {
				f.report(e, falseLoss)
			}
		case e.Kind == trace.Returned:
			text := contradiction(e, f.calls[e.Call], s.Keys, owed[e.Call])
			switch {
			case text == failsForNobody && (taken[e.Client] > 0 || s.Condition(e.Process).Closed): // this may mean that its hold is lost
			case (text == freedIt || text == stillItsOwn) && told[e.Client]: // it may be told so again, also while its key is in Redis
			case text != "":
				f.report(e, text, "call", e.Op, "error", e.Result.Error)
			case trace.IsAcquire(e.Op) && e.Result.Claim == trace.ClaimRefused:
				ofOtherName(f, s)
			}
			if e.Result.Held {
				taken[e.Client]++
				told[e.Client] = false
			}
		}
	}
}

// ofOtherName reports a refusal because of a key that belongs to a lock of another name.
func ofOtherName(f *file, s *trace.Scene) {
	e := s.Event
	isOther := func(k trace.Key) bool { return k.Owner.Client != "" && !f.SharesLock(k.Owner.Client, e.Client) }
	if at := slices.IndexFunc(s.Keys, isOther); at >= 0 && !slices.ContainsFunc(s.Keys, func(k trace.Key) bool { return !isOther(k) }) {
		owner := s.Keys[at].Owner.Client
		f.report(e, otherName, "call", e.Op, "owner", owner, "key", s.Keys[at].Name,
			"asked", strings.Join(f.Locks(e.Client), " + "), "held", strings.Join(f.Locks(owner), " + "))
	}
}

// kept are the last Unlocks that returned nil while the client's key was still there.
// A key may be freed a moment later.
type kept map[string]*trace.Event

func (k kept) follow(f *file, s *trace.Scene) {
	for client, unlock := range k {
		switch after := s.Event.At - unlock.At; {
		case after > Grace(f.Trace): // the key was there until this event
			delete(k, client)
			f.report(unlock, keptIt, "time", after.Truncate(time.Millisecond))
		case !owns(s.Keys, client) || s.Holds(client) > 0:
			delete(k, client)
		}
	}
	e := s.Event
	unlocked := e.Kind == trace.Returned && e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone
	if unlocked && !f.calls[e.Call].freed && s.Holds(e.Client) == 0 && owns(s.Keys, e.Client) {
		k[e.Client] = e
	}
}

// owns reports whether one of the keys belongs to the client.
func owns(keys []trace.Key, client string) bool {
	return slices.ContainsFunc(keys, func(key trace.Key) bool { return key.Owner.Client == client })
}

// contradiction returns how a result disagrees with what the call did, "" if it agrees.
func contradiction(e *trace.Event, did callEffects, keys []trace.Key, owed bool) i18n.Text {
	refused, mine := e.Result.Claim == trace.ClaimRefused, owns(keys, e.Client)
	switch {
	case e.Result.Claim == trace.ClaimPanic:
		return panics
	case e.Result.Claim == trace.ClaimBoth:
		return saysBoth
	case e.Op == trace.OpLock && errors.Is(e.Result.Err, trace.ErrNothing) && (len(keys) == 0 || mine): // else it is a refusal
		return saysNothing
	case trace.IsAcquire(e.Op) && e.Result.Held && len(did.installed) == 0 && !did.owned && !mine:
		return neverOwn
	case trace.IsAcquire(e.Op) && refused && !did.met && len(keys) == 0 && e.Result.Error != "":
		return failsForNobody
	case trace.IsAcquire(e.Op) && refused && !did.met && len(keys) == 0:
		return nobodyDoes
	case trace.IsAcquire(e.Op) && refused:
		if slices.ContainsFunc(keys, func(k trace.Key) bool { return slices.Contains(did.installed, k.Owner) }) {
			return refusedByItself
		}
	case e.Op == trace.OpUnlock && refused && did.freed:
		return freedIt
	case e.Op == trace.OpUnlock && refused && mine:
		return stillItsOwn
	case e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone && !did.freed && !owed:
		return nothingToFree
	}
	return ""
}

func lossReported(f *file) func(*trace.Scene) {
	mine := map[string]bool{} // client → its hold is still in Redis
	lost := map[string]bool{} // client → its hold disappeared while it believed in it
	return func(s *trace.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			owner := effect.Owner.Client
			switch effect.Kind {
			case trace.Installed:
				mine[owner] = true
			case trace.Lapsed, trace.Removed, trace.Overwritten:
				lost[owner] = lost[owner] || mine[owner] && s.Holds(owner) > 0
				mine[owner] = false
			}
		}
		if e.Acquires() {
			lost[e.Client] = !mine[e.Client]
		}
		if e.Kind != trace.Returned || e.Op != trace.OpUnlock {
			return
		}
		if lost[e.Client] && e.Result.Claim == trace.ClaimDone && !f.calls[e.Call].freed {
			f.report(e, lossHidden)
		}
		if s.Holds(e.Client) == 0 { // if a hold is left, its Unlock has to report the loss too
			lost[e.Client] = false
		}
	}
}

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
		if e.Kind == trace.Returned && e.Op == trace.OpCount && e.Result.Claim == trace.ClaimRefused && s.Holds(e.Client) > 0 && owns(s.Keys, e.Client) {
			f.report(e, countFails, "error", e.Result.Error)
		}
		if e.Kind != trace.Returned || e.Op == trace.OpRun || e.Result.Claim != trace.ClaimDone {
			return
		}
		if _, busy := s.Call(e.Client); busy {
			return
		}
		lost[e.Client] = lost[e.Client] && s.Holds(e.Client) > 0
		counted, there := countOf(e.Client, s.Keys)
		elsewhere := !there && owns(s.Keys, e.Client)
		switch taken := s.Holds(e.Client); {
		case there && !lost[e.Client] && counted != taken*len(f.Locks(e.Client)):
			f.report(e, countsOther, "times", times(taken), "n", counted)
		case e.Op != trace.OpCount:
		case elsewhere && e.Result.Count != taken:
			f.report(e, tellsOtherTimes, "told", e.Result.Count, "times", times(taken))
		case !elsewhere && e.Result.Count != counted:
			f.report(e, tellsOther, "told", e.Result.Count, "n", counted)
		}
	}
}

func times(n int) i18n.Message {
	if n == 0 {
		return notAtAll.Args()
	}
	return oftener.Of(n)
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

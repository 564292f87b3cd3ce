package oracle

import (
	"cmp"
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
	freedAfter      = i18n.New("this call freed the key and Redis answered {reply}, but Unlock told {client} that it does not hold the lock")
	ownAfter        = i18n.New("Redis answered {reply} and the key still has {client}'s own value, but Unlock told {client} that it does not hold the lock")
	keptIt          = i18n.New("Unlock returned nil, but {client}'s key stayed for {time}")
	heldRefused     = i18n.New("{call} gave {client} the lock, but Redis had refused its {command}")
	hidesRefusal    = i18n.New("{call} of {client} failed with {error}, which does not say that Redis refused its {command}: {answer}")
	leaksNil        = i18n.New("Unlock of {client} failed with {error}: that is an answer of Redis, and no error")
	forcedNothing   = i18n.New("ForceUnlock told {client} that it freed the lock, but it has removed no key")
	forcedHidden    = i18n.New("ForceUnlock told {client} that the lock was free, but it has removed the key")
	forcedLeft      = i18n.New("ForceUnlock told {client} that the lock was free, but its key is there")
	forcedRefused   = i18n.New("ForceUnlock returned no error to {client}, but Redis had refused its command")
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

// afterReply are the texts about an Unlock that has sent a command.
var afterReply = map[i18n.Text]i18n.Text{freedIt: freedAfter, stillItsOwn: ownAfter}

// callEffects is the state of one call, and what its commands did in Redis.
type callEffects struct {
	left      bool // its context was cancelled, or the scenario no longer waits for it
	installed []trace.Owner
	freed     []string     // the servers where it removed an entry of its client, or decremented the count
	owned     bool         // got, saw or left entries of its client on most of the servers
	met       bool         // saw, or left, an entry of any client
	removed   bool         // it removed a key of any client
	refused   *trace.Event // its last command, if Redis refused it
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
		d.refused = e
	case e.Kind != trace.Executed:
		return
	default:
		d.refused = nil
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

func truth(f *file) func(*trace.Scene) {
	owed := map[int]bool{}     // Unlocks that have a hold to release
	taken := map[string]int{}  // client → how many of its acquires it has not unlocked
	freed := map[int]bool{}    // acquires whose entry their client removed
	told := map[string]bool{}  // clients that were told of a loss, and have not got the lock since
	during := map[int]bool{}   // Unlocks during which the client was told of a loss
	again := map[string]bool{} // clients that took the lock while they held it
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
			} else if call, busy := s.Call(e.Client); busy && call.Op == trace.OpUnlock {
				during[call.Call] = true
			}
		case e.Kind == trace.Returned:
			text := f.contradiction(e, s.Keys, owed[e.Call])
			switch {
			case text == failsForNobody && (taken[e.Client] > 0 || s.Condition(e.Process).Closed): // this may mean that its hold is lost
			case (text == freedIt || text == stillItsOwn) && told[e.Client]: // it may be told so again, also while its key is in Redis
			case text == heldRefused || text == hidesRefusal:
				refused := f.calls[e.Call].refused
				f.report(e, text, "call", e.Op, "error", e.Result.Error, "command", shape(refused), "answer", strings.TrimPrefix(refused.Reply, "(error) "))
			case text != "":
				last := cmp.Or(f.lastOf(e.Call, e), &trace.Event{})
				if after := afterReply[text]; after != "" && last.Kind == trace.Executed {
					text = after
				}
				f.report(e, text, "call", e.Op, "error", e.Result.Error, "reply", last.Reply)
			case !trace.IsAcquire(e.Op) || e.Result.Claim != trace.ClaimRefused:
			case again[e.Client] && taken[e.Client] > 0 && !told[e.Client] && len(s.Calls) == 0 && owns(f.Trace, s.Keys, e.Client):
				f.report(e, refusedByItself, "call", e.Op) // this lock lets its owner in again
			default:
				ofOtherName(f, s)
			}
			if during[e.Call] && e.Result.Claim == trace.ClaimDone {
				f.report(e, falseLoss)
			}
			if e.Result.Held {
				taken[e.Client]++
				again[e.Client] = again[e.Client] || taken[e.Client] > 1
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
			f.reportUntil(s.Event, unlock, keptIt, "time", after.Truncate(time.Millisecond))
		case !owns(f.Trace, s.Keys, client) || s.Holds(client) > 0:
			delete(k, client)
		}
	}
	e := s.Event
	unlocked := e.Kind == trace.Returned && e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone
	if unlocked && !f.hasFreed(e.Call) && s.Holds(e.Client) == 0 && owns(f.Trace, s.Keys, e.Client) {
		k[e.Client] = e
	}
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

// contradiction returns how a result disagrees with what the call did, "" if it agrees.
func (f *file) contradiction(e *trace.Event, keys []trace.Key, owed bool) i18n.Text {
	did, freed := f.calls[e.Call], f.hasFreed(e.Call)
	refused, mine := e.Result.Claim == trace.ClaimRefused, owns(f.Trace, keys, e.Client)
	switch {
	case e.Result.Claim == trace.ClaimPanic:
		return panics
	case e.Result.Claim == trace.ClaimBoth:
		return saysBoth
	case e.Op == trace.OpLock && errors.Is(e.Result.Err, trace.ErrNothing) && (len(keys) == 0 || mine): // else it is a refusal
		return saysNothing
	case trace.IsAcquire(e.Op) && e.Result.Held && did.refused != nil:
		return heldRefused
	case e.Result.Err != nil && did.refused != nil && strings.Contains(did.refused.Reply, "NOPERM") && !strings.Contains(e.Result.Error, "NOPERM"):
		return hidesRefusal
	case e.Op == trace.OpUnlock && strings.Contains(e.Result.Error, "redis: nil"):
		return leaksNil
	case e.Op == trace.OpForce && e.Result.Err == nil && did.refused != nil:
		return forcedRefused
	case e.Op == trace.OpForce && e.Result.Err == nil && (e.Result.Claim == trace.ClaimDone) != did.removed:
		if did.removed {
			return forcedHidden
		}
		return forcedNothing
	case e.Op == trace.OpForce && refused && e.Result.Err == nil && did.met:
		return forcedLeft
	case trace.IsAcquire(e.Op) && e.Result.Held && !did.owned && !mine:
		return neverOwn
	case trace.IsAcquire(e.Op) && refused && !did.met && len(keys) == 0 && e.Result.Error != "":
		return failsForNobody
	case trace.IsAcquire(e.Op) && refused && len(keys) == 0 && (!did.met || e.Result.Error == "" && f.IsMajority(len(did.installed)) && len(did.freed) == 0):
		return nobodyDoes
	case trace.IsAcquire(e.Op) && refused:
		if onMost(f.Trace, keys, func(k trace.Key) bool { return slices.Contains(did.installed, k.Owner) }) {
			return refusedByItself
		}
	case e.Op == trace.OpUnlock && refused && freed:
		return freedIt
	case e.Op == trace.OpUnlock && refused && mine:
		return stillItsOwn
	case e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone && !freed && !owed:
		return nothingToFree
	}
	return ""
}

func lossReported(f *file) func(*trace.Scene) {
	mine := map[string][]string{} // client → the servers that still have its hold
	lost := map[string]bool{}     // client → its hold disappeared while it believed in it
	isMine := func(client string) bool { return f.IsMajority(len(mine[client])) }
	return func(s *trace.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			owner := effect.Owner.Client
			others := slices.DeleteFunc(slices.Clone(mine[owner]), func(server string) bool { return server == e.Server })
			switch effect.Kind {
			case trace.Installed:
				mine[owner] = append(others, e.Server)
			case trace.Lapsed, trace.Removed, trace.Overwritten:
				was := isMine(owner)
				mine[owner] = others
				lost[owner] = lost[owner] || was && !isMine(owner) && s.Holds(owner) > 0
			}
		}
		if e.Acquires() {
			lost[e.Client] = !isMine(e.Client)
		}
		if e.Kind != trace.Returned || e.Op != trace.OpUnlock {
			return
		}
		if lost[e.Client] && e.Result.Claim == trace.ClaimDone && !f.hasFreed(e.Call) {
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
		if e.Kind == trace.Returned && e.Op == trace.OpCount && e.Result.Claim == trace.ClaimRefused && s.Holds(e.Client) > 0 && owns(f.Trace, s.Keys, e.Client) {
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
		elsewhere := !there && owns(f.Trace, s.Keys, e.Client)
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

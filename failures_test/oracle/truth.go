package oracle

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	panicText              = i18n.New("{call} of {client} ends in a {error}")
	lockAndErrorText       = i18n.New("{call} returned both the lock and an error to {client}: {error}")
	noResultText           = i18n.New("{call} of {client} returned neither the lock nor an error")
	falseGrantText         = i18n.New("{call} reported success, but {client} did not get the lock")
	falseRefusalText       = i18n.New("{call} told {client} that another client holds the lock, but no client does")
	falseErrorText         = i18n.New("{call} of {client} failed with {error}, but no client holds the lock")
	sharedKeyText          = i18n.New("{call} told {client} that another client holds the lock {asked}, but {owner} holds the lock {held}: both use the key {key}")
	ownKeyRefusalText      = i18n.New("{call} told {client} that another client holds the lock, but the key in Redis is {client}'s own")
	deniedReleaseText      = i18n.New("Unlock told {client} that it does not hold the lock, but this call freed it")
	deniedHoldText         = i18n.New("Unlock told {client} that it does not hold the lock, but the key in Redis is {client}'s own")
	deniedReleaseReplyText = i18n.New("this call freed the key and Redis answered {reply}, but Unlock told {client} that it does not hold the lock ({error})")
	deniedHoldReplyText    = i18n.New("Redis answered {reply} and the key still has {client}'s own value, but Unlock told {client} that it does not hold the lock ({error})")
	keptKeyText            = i18n.New("Unlock returned nil, but {client}'s key stayed for {time}")
	refusedGrantText       = i18n.New("{call} gave {client} the lock, but Redis had refused its {command}")
	hiddenRefusalText      = i18n.New("{call} of {client} failed with {error}, which does not say that Redis refused its {command}: {answer}")
	redisNilText           = i18n.New("Unlock of {client} failed with {error}: that is an answer of Redis, and no error")
	emptyForceText         = i18n.New("ForceUnlock told {client} that it freed the lock, but it has removed no key")
	hiddenForceText        = i18n.New("ForceUnlock told {client} that the lock was free, but it has removed the key")
	unforcedKeyText        = i18n.New("ForceUnlock told {client} that the lock was free, but its key is there")
	refusedForceText       = i18n.New("ForceUnlock returned no error to {client}, but Redis had refused its command")
	emptyUnlockText        = i18n.New("Unlock returned nil, but {client} did not hold the lock")
	falseLossText          = i18n.New("the lock told {client} that its hold was lost, but {client} had unlocked it itself")
)

// replyTexts are the texts about an Unlock that has sent a command.
var replyTexts = map[i18n.Text]i18n.Text{deniedReleaseText: deniedReleaseReplyText, deniedHoldText: deniedHoldReplyText}

// truth reports results that disagree with what the call did in Redis, and reported losses of holds that the
// client has released itself.
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
				f.report(e, falseLossText)
			} else if call, busy := s.Call(e.Client); busy && call.Op == trace.OpUnlock {
				during[call.Call] = true
			}
		case e.Kind == trace.Returned:
			text, call := f.contradiction(e, s.Keys, owed[e.Call]), f.calls[e.Call]
			isOver := call.left || s.Began.Bound > 0 && e.At-s.Began.At >= s.Began.Bound
			switch {
			case text == falseErrorText && (call.hindered || isOver): // it may fail then, and need not say why
			case text == falseErrorText && (taken[e.Client] > 0 || s.Condition(e.Process).Closed): // this may mean that its hold is lost
			case (text == deniedReleaseText || text == deniedHoldText) && told[e.Client]: // it may be told so again, also while its key is in Redis
			case text == refusedGrantText || text == hiddenRefusalText:
				refused := call.refused
				if text == hiddenRefusalText {
					refused = call.first
				}
				f.report(e, text, "call", e.Op, "error", e.Result.Error, "command", shape(refused), "answer", strings.TrimPrefix(refused.Reply, "(error) "))
			case text != "":
				last := cmp.Or(f.lastOf(e.Call, e), &trace.Event{})
				if after := replyTexts[text]; after != "" && last.Kind == trace.Executed {
					text = after
				}
				f.report(e, text, "call", e.Op, "error", e.Result.Error, "reply", last.Reply)
			case !trace.IsAcquire(e.Op) || e.Result.Claim != trace.ClaimRefused:
			case again[e.Client] && taken[e.Client] > 0 && !told[e.Client] && len(s.Calls) == 0 && owns(f.Trace, s.Keys, e.Client):
				f.report(e, ownKeyRefusalText, "call", e.Op) // this lock lets its owner in again
			default:
				ofOtherName(f, s)
			}
			if during[e.Call] && e.Result.Claim == trace.ClaimDone {
				f.report(e, falseLossText)
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
		f.report(e, sharedKeyText, "call", e.Op, "owner", owner, "key", s.Keys[at].Name,
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
			f.reportUntil(s.Event, unlock, keptKeyText, "time", after.Truncate(time.Millisecond))
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

// contradiction returns how a result disagrees with what the call did, "" if it agrees.
func (f *file) contradiction(e *trace.Event, keys []trace.Key, owed bool) i18n.Text {
	did, freed := f.calls[e.Call], f.hasFreed(e.Call)
	refused, mine := e.Result.Claim == trace.ClaimRefused, owns(f.Trace, keys, e.Client)
	switch {
	case e.Result.Claim == trace.ClaimPanic:
		return panicText
	case e.Result.Claim == trace.ClaimBoth:
		return lockAndErrorText
	case e.Op == trace.OpLock && errors.Is(e.Result.Err, trace.ErrNothing) && (len(keys) == 0 || mine): // else it is a refusal
		return noResultText
	case trace.IsAcquire(e.Op) && e.Result.Held && did.refused != nil:
		return refusedGrantText
	case e.Result.Err != nil && did.refused != nil && strings.Contains(did.refused.Reply, "NOPERM") && !strings.Contains(e.Result.Error, "NOPERM"):
		return hiddenRefusalText
	case e.Op == trace.OpUnlock && strings.Contains(e.Result.Error, "redis: nil"):
		return redisNilText
	case e.Op == trace.OpForce && e.Result.Err == nil && did.refused != nil:
		return refusedForceText
	case e.Op == trace.OpForce && e.Result.Err == nil && (e.Result.Claim == trace.ClaimDone) != did.removed:
		if did.removed {
			return hiddenForceText
		}
		return emptyForceText
	case e.Op == trace.OpForce && refused && e.Result.Err == nil && did.met:
		return unforcedKeyText
	case trace.IsAcquire(e.Op) && e.Result.Held && !did.owned && !mine:
		return falseGrantText
	case trace.IsAcquire(e.Op) && refused && !did.met && len(keys) == 0 && e.Result.Error != "":
		return falseErrorText
	case trace.IsAcquire(e.Op) && refused && len(keys) == 0 && (!did.met || e.Result.Error == "" && f.IsMajority(len(did.installed)) && len(did.freed) == 0):
		return falseRefusalText
	case trace.IsAcquire(e.Op) && refused:
		if onMost(f.Trace, keys, func(k trace.Key) bool { return slices.Contains(did.installed, k.Owner) }) {
			return ownKeyRefusalText
		}
	case e.Op == trace.OpUnlock && refused && freed:
		return deniedReleaseText
	case e.Op == trace.OpUnlock && refused && mine:
		return deniedHoldText
	case e.Op == trace.OpUnlock && e.Result.Claim == trace.ClaimDone && !freed && !owed:
		return emptyUnlockText
	}
	return ""
}

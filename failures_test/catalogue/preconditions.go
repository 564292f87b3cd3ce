package catalogue

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Precondition checks that something happened that a failure needs to be tested: a key's lease
// ended, a client waited. It is never something that the lock should prevent. It returns what is
// missing in the trace, or no text. Every failure also needs all its faults to strike.
type Precondition func(*trace.Trace) (missing i18n.Message)

// The texts for a missing precondition.
var (
	missingGrantText           = i18n.New("{client} got the lock {n} times, not {wanted}")
	deletedKeyText             = i18n.New("{client}'s key was already deleted, so the failure could not happen")
	keptKeyText                = i18n.New("{client}'s key was still there")
	missingWaiterText          = i18n.New("not all of these clients waited: {clients}")
	missingGiveUpText          = i18n.New("{client} did not give up while another client held the lock")
	missingConcurrentLockText  = i18n.New("{client} did not ask at the same moment as {other}")
	missingSecondLockText      = i18n.New("{client} did not have two Locks under way at once")
	missingOvertakingText      = i18n.New("{client} did not get the lock while {other} was about to take it")
	missingLastMomentText      = i18n.New("{client} did not ask in the last millisecond of a lease")
	missingRenewalText         = i18n.New("nothing renewed {client}'s lock")
	missingLateUnlockText      = i18n.New("no Unlock of {client} reached Redis when {client} had the lock again")
	missingLateGrantText       = i18n.New("no command of {client} took the lock after its call was over")
	missingRenewalAtUnlockText = i18n.New("no renewal was on its way when {client} unlocked")
	missingCloseText           = i18n.New("Close of {client} did not return")
	missingInsertText          = i18n.New("{client} did not ask the ledger to insert an order")
	missingCrossedLocksText    = i18n.New("{client} and {other} did not each have one of the locks")
	missingKeyLossText         = i18n.New("no replica took over without the key that {client} had set")
	missingKeyCopyText         = i18n.New("no replica took over with the key that {client} had set")
	missingUnconfirmedWaitText = i18n.New("WAIT was not answered with 0")
	missingErrorText           = i18n.New("Redis did not answer any command with {error}")
)

// Unmet returns the first precondition that is missing in a trace, or no text.
func (f Failure) Unmet(tr *trace.Trace) i18n.Message {
	if len(tr.Missed) > 0 {
		return i18n.Text(tr.Missed[0]).Args()
	}
	for _, precondition := range f.Requires {
		if missing := precondition(tr); missing.Text != "" {
			return missing
		}
	}
	return i18n.Message{}
}

// seen is the precondition that some scene of the trace is of a kind.
func seen(missing i18n.Message, is func(*trace.Scene) bool) Precondition {
	return func(tr *trace.Trace) i18n.Message {
		if slices.ContainsFunc(tr.Scenes(), is) {
			return i18n.Message{}
		}
		return missing
	}
}

// given: each of the clients, separated by spaces, got the lock once for each time it is named.
func given(clients string) Precondition {
	return func(tr *trace.Trace) i18n.Message {
		times, wanted := map[string]int{}, map[string]int{}
		for _, e := range tr.Events {
			if e.Acquires() {
				times[e.Client]++
			}
		}
		for client := range strings.FieldsSeq(clients) {
			if wanted[client]++; times[client] < wanted[client] {
				return missingGrantText.Args("client", client, "n", times[client], "wanted", strings.Count(clients, client))
			}
		}
		return i18n.Message{}
	}
}

// taken: the client's key was removed in an event of that kind or operation.
func taken(client, how string) Precondition {
	return func(tr *trace.Trace) i18n.Message {
		missing := keptKeyText
		for _, e := range tr.Events {
			for _, x := range e.Effects {
				switch is := x.Owner.Client == client && (x.Kind == trace.Lapsed || x.Kind == trace.Removed); {
				case is && (string(e.Kind) == how || e.Op == how):
					return i18n.Message{}
				case is && e.At < tr.Lease:
					missing = deletedKeyText
				}
			}
		}
		return missing.Args("client", client)
	}
}

// serverDid means that Redis itself removed the key.
const serverDid = string(trace.Server)

// ends: the lease of that client's key ended.
func ends(client string) Precondition { return taken(client, string(trace.Expired)) }

// waits: the clients, separated by spaces, waited in Lock as another one freed the lock, or
// died.
func waits(clients string) Precondition {
	return waitsAs(clients, string(trace.Crashed), trace.OpUnlock, trace.OpForce)
}

// waitsAs: the clients waited in Lock in an event of one of those kinds, or as one of those
// operations was called.
func waitsAs(clients string, moments ...string) Precondition {
	return seen(missingWaiterText.Args("clients", clients), func(s *trace.Scene) bool {
		e := s.Event
		isMoment := slices.Contains(moments, string(e.Kind)) || e.Kind == trace.Called && slices.Contains(moments, e.Op)
		isAway := func(client string) bool { call, _ := s.Call(client); return call.Op != trace.OpLock }
		return isMoment && !slices.ContainsFunc(strings.Fields(clients), isAway)
	})
}

// givesUp: a Lock of that client returned while another client still had the lock.
func givesUp(client string) Precondition {
	return seen(missingGiveUpText.Args("client", client), func(s *trace.Scene) bool {
		e := s.Event
		return e.Kind == trace.Returned && e.Op == trace.OpLock && e.Client == client && len(s.Others(client)) > 0
	})
}

// asksWhile: that client called Lock while the Lock of the other one was on its way, and
// no client had the lock.
func asksWhile(client, other string) Precondition {
	return seen(missingConcurrentLockText.Args("client", client, "other", other), func(s *trace.Scene) bool {
		e := s.Event
		call, busy := s.Call(other)
		return e.Kind == trace.Called && e.Op == trace.OpLock && e.Client == client &&
			busy && call.Op == trace.OpLock && len(s.Insiders()) == 0 && len(s.Keys) == 0
	})
}

// asksTwice: that client had two Locks under way at once.
func asksTwice(client string) Precondition {
	return seen(missingSecondLockText.Args("client", client), func(s *trace.Scene) bool {
		isOther := func(call *trace.Event) bool { return call.Client != client || call.Op != trace.OpLock }
		return len(slices.DeleteFunc(slices.Clone(s.Calls), isOther)) > 1
	})
}

// overtakes: that client got the lock while the command with which the other one took it was
// on its way.
func overtakes(client, other string) Precondition {
	return seen(missingOvertakingText.Args("client", client, "other", other), func(s *trace.Scene) bool {
		e := s.Event
		gets := func(x trace.Event) bool { return x.Acquires() && x.Client == client }
		return e.Kind == trace.Executed && e.Client == other && e.Effects.Include(trace.Installed) &&
			slices.ContainsFunc(s.Trace.Events[max(s.Request.Sent, 0):s.Index], gets)
	})
}

// asksAsItEnds: Redis executed a command of that client while another client's key had less
// than a millisecond left.
func asksAsItEnds(client string) Precondition {
	return seen(missingLastMomentText.Args("client", client), func(s *trace.Scene) bool {
		e := s.Event
		return e.Kind == trace.Executed && e.Client == client && slices.ContainsFunc(s.Keys, func(k trace.Key) bool {
			left := k.TTL - (e.At - s.KeysAt)
			return k.Owner.Client != client && k.TTL != trace.NoTTL && left > 0 && left < time.Millisecond
		})
	})
}

// renewed: a goroutine started by the lock gave that client's key a new lease before the
// client unlocked.
func renewed(client string) Precondition {
	return seen(missingRenewalText.Args("client", client), func(s *trace.Scene) bool {
		extends := func(x trace.Effect) bool { return x.Kind == trace.Leased && x.Owner.Client == client }
		unlocks := func(e trace.Event) bool { return e.Kind == trace.Called && e.Op == trace.OpUnlock }
		return s.Event.Background && slices.ContainsFunc(s.Event.Effects, extends) && !slices.ContainsFunc(s.Trace.Events[:s.Index], unlocks)
	})
}

// arrivesLate: a command of an Unlock reached Redis when its client had the lock again.
func arrivesLate(client string) Precondition {
	return seen(missingLateUnlockText.Args("client", client), func(s *trace.Scene) bool {
		e := s.Event
		return e.Kind == trace.Executed && e.Op == trace.OpUnlock && e.Client == client && s.Holds(client) > 0
	})
}

// arrivesTooLate: a command of that client's Lock or TryLock took the lock after the call had returned, or
// after its deadline.
func arrivesTooLate(client string) Precondition {
	return seen(missingLateGrantText.Args("client", client), func(s *trace.Scene) bool {
		e := s.Event
		isOver := func(c trace.Event) bool {
			isPast := c.Kind == trace.Called && c.Bound > 0 && e.At > c.At+c.Bound
			return c.Call == e.Call && (isPast || c.Kind == trace.Returned)
		}
		return e.Kind == trace.Executed && trace.IsAcquire(e.Op) && e.Client == client && e.Effects.Include(trace.Installed) &&
			slices.ContainsFunc(s.Trace.Events[:s.Index], isOver)
	})
}

// unlocksDuring: a renewal was on its way as that client called Unlock.
func unlocksDuring(client string) Precondition {
	return seen(missingRenewalAtUnlockText.Args("client", client), func(s *trace.Scene) bool {
		e := s.Event
		isRenewal := func(r *trace.Request) bool { return r.Call == 0 && !r.Ledger && r.Process == client }
		return e.Kind == trace.Called && e.Op == trace.OpUnlock && e.Client == client && slices.ContainsFunc(s.UnderWay, isRenewal)
	})
}

// closes: that client's Close returned.
func closes(client string) Precondition {
	return seen(missingCloseText.Args("client", client), func(s *trace.Scene) bool {
		return s.Event.Kind == trace.Returned && s.Event.Op == trace.OpClose && s.Event.Client == client
	})
}

// inserts: that client asked the ledger to insert an order.
func inserts(client string) Precondition {
	return seen(missingInsertText.Args("client", client), func(s *trace.Scene) bool {
		return s.Event.Kind == trace.Stored && s.Event.Op == trace.OpInsert && s.Event.Client == client
	})
}

// haveOneEach: each of two clients had one key in Redis while it waited for the other's.
func haveOneEach(client, other string) Precondition {
	return seen(missingCrossedLocksText.Args("client", client, "other", other), func(s *trace.Scene) bool {
		has := func(name string) bool {
			call, busy := s.Call(name)
			return busy && call.Op == trace.OpLock && slices.ContainsFunc(s.Keys, func(k trace.Key) bool { return k.Owner.Client == name })
		}
		return has(client) && has(other)
	})
}

// takesOver: a replica took over, having or lacking a key that the client had set.
func takesOver(how i18n.Text, client string) Precondition {
	return seen(how.Args("client", client), func(s *trace.Scene) bool {
		isOwn := func(k trace.Key) bool { return k.Owner.Client == client }
		hasSet := func(e trace.Event) bool { return e.Client == client && e.Effects.Include(trace.Installed) }
		return s.Event.Fault == trace.Promoted && slices.ContainsFunc(s.Keys, isOwn) == (how == missingKeyCopyText) && slices.ContainsFunc(s.Trace.Events[:s.Index], hasSet)
	})
}

// waitsInVain: Redis answered a WAIT with 0.
var waitsInVain = seen(missingUnconfirmedWaitText.Args(), func(s *trace.Scene) bool {
	return s.Event.Kind == trace.Executed && s.Event.Command[0] == "WAIT" && s.Event.Reply == "0"
})

// answered: Redis answered a command with that error.
func answered(text string) Precondition {
	return seen(missingErrorText.Args("error", text), func(s *trace.Scene) bool {
		return s.Event.Kind == trace.Executed && strings.HasPrefix(s.Event.Reply, "(error) "+text)
	})
}

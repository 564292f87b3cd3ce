// Package contract tests what all locks of this repository have in common, whatever they are made of: who gets in and
// for how long, how a client waits, and what the errors say. A stage's own tests are about what is that stage's own.
//
//	var lock = contract.Lock{Subject: subject, NotHeld: stage3.ErrNotHeld}
//
//	func TestContract(t *testing.T) { contract.Test(t, lock) }
//
// The contract sees a lock as the catalogue of failures does, through its subject. A lock that returns holds brings the
// adapter that it has there, an [adapt.Holds].
package contract

import (
	"cmp"
	"slices"
	"testing"
	"time"

	failures "lockkata/failures_test"
)

// Lock is a lock, and what the contract has to know of it beyond its subject.
type Lock struct {
	failures.Subject
	Prefix  string // what its errors begin with; by default the subject's name
	Key     string // what Redis has for the lock order:1001; by default lock:order:1001
	NotHeld error  // what Unlock returns to one that does not hold the lock; nil: the lock cannot tell
	Lost    error  // what Unlock returns after the lease has ended; by default NotHeld
	Again   error  // what Unlock returns after one that Redis refused; by default nothing: it may be repeated
	Refused string // what the error of a wait says besides, where somebody else held the lock
	Service bool   // a service makes it, and not NewMutex
}

// What the tests lock, for how long, and how often a lock asks that nobody wakes.
const (
	name  = "order:1001"
	lease = 30 * time.Second
	poll  = 100 * time.Millisecond
)

// Test runs the contract, a subtest for each promise that the lock makes.
func Test(t *testing.T, l Lock) {
	l.Prefix, l.Key = cmp.Or(l.Prefix, l.Name), cmp.Or(l.Key, "lock:"+name)
	if l.Lost == nil {
		l.Lost = l.NotHeld
	}
	polls, tells := !l.has(failures.PubSub), l.NotHeld != nil
	for _, promise := range []struct {
		name  string
		made  bool
		check func(*testing.T, Lock)
	}{
		{"NewMutex refuses bad input", !l.Service, refusesBadInput},
		{"NewMutex refuses a ttl that it cannot renew", !l.Service && l.has(failures.Watchdog), refusesWhatItCannotRenew},
		{"one client at a time gets the lock", true, admitsOneClient},
		{"a waiter asks every 100 ms", polls, asksEvery100Milliseconds},
		{"a waiter gets the lock after Unlock", true, servesAWaiterAfterUnlock},
		{"Lock ends when its context does", true, endsWithItsContext},
		{"an error of Redis ends Lock at once", true, endsWithAnErrorOfRedis},
		{"Unlock returns an error of Redis", true, returnsAnErrorOfRedis},
		{"Unlock returns an error where Redis cannot be reached", true, returnsAnErrorOfTheNetwork},
		{"Unlock tells a client that does not hold the lock", tells, tellsWhoDoesNotHold},
		{"Unlock says what the context of the hold has said", l.Lost != l.NotHeld, saysWhatTheContextHasSaid},
		{"Unlock waits for a renewal that is under way", !l.Service && l.has(failures.Watchdog), waitsForARenewal},
		{"each acquire writes a value of its own", tells, writesAFreshValue},
		{"a key without a lease is somebody's", true, refusesWithoutALease},
		{"a lock that is free is taken without listening", !polls, listensToNothing},
		{"a waiter that has left listens no longer", !polls, listensNoLonger},
		{"the context of a hold ends with Unlock", l.has(failures.Watchdog), endsTheContextOfTheHold},
		{"HoldCount is how often the caller holds the lock, or why nobody knows", l.has(failures.Reentry), countsItsHolds},
		{"a re-entry that finds the lock gone tells the holder", l.has(failures.Reentry), tellsAtReentry},
	} {
		if promise.made {
			t.Run(promise.name, func(t *testing.T) { promise.check(t, l) })
		}
	}
}

func (l Lock) has(feature failures.Feature) bool { return slices.Contains(l.Has, feature) }

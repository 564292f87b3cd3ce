// Package locktest tests what all locks of this repository have in common: which client gets the lock, how the others
// wait, and the texts of the errors. A stage's own tests are about that stage alone. The contract does not repeat the
// assertions of the catalogue of failures.
//
//	var lock = locktest.Lock{Subject: subject, NotHeld: stage3.ErrNotHeld}
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(locktest.Summarize(m, lock)) } // for a stage
//
//	func TestContract(t *testing.T) { locktest.Test(t, lock) }
//
// The contract uses a lock as the catalogue of failures does, through its subject. A lock that returns holds uses the
// same adapter as there, an [adapters.Holds].
package locktest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	failures "lockkata/failures_test"
)

// Lock is a subject, and the properties of the lock that the contract needs beyond it.
type Lock struct {
	failures.Subject
	Prefix  string // prefix of its errors; by default the subject's name
	Key     string // key of the lock order:1001 in Redis; by default lock:order:1001
	NotHeld error  // error of Unlock without a hold; nil: Unlock does not check
	Lost    error  // error of Unlock after the lease has ended; by default NotHeld
	Again   error  // error of Unlock after an Unlock that Redis refused; by default none: it may be repeated
	Refused string // suffix of the error of a wait while another client held the lock
	Service bool   // it is created by a service, not by NewMutex
}

const (
	name  = "order:1001"
	lease = 30 * time.Second
	poll  = 100 * time.Millisecond // between two attempts of a lock without messages
)

// Test runs the contract, a subtest for each promise that the lock makes, and plays what [Summarize] draws.
func Test(t *testing.T, l Lock) {
	l.Prefix, l.Key = cmp.Or(l.Prefix, l.Name), cmp.Or(l.Key, "lock:"+name)
	if l.Lost == nil {
		l.Lost = l.NotHeld
	}
	shown = l.show(t)
	polls, tells := !l.has(failures.PubSub), l.NotHeld != nil
	for _, promise := range []struct {
		name  string
		made  bool
		check func(*testing.T, Lock)
	}{
		{"NewMutex refuses bad input", !l.Service, refusesBadInput},
		{"NewMutex refuses a ttl that it cannot renew", !l.Service && l.has(failures.Watchdog), refusesWhatItCannotRenew},
		{"a waiter asks every 100 ms", polls, asksEvery100Milliseconds},
		{"a waiter gets the lock after Unlock", true, servesAWaiterAfterUnlock},
		{"Lock ends when its context does", true, endsWithItsContext},
		{"an error of Redis ends Lock at once", true, endsWithAnErrorOfRedis},
		{"Unlock returns an error of Redis", true, returnsAnErrorOfRedis},
		{"Unlock returns an error where Redis cannot be reached", true, returnsAnErrorOfTheNetwork},
		{"Unlock without a hold is an error", tells, refusesUnlockWithoutAHold},
		{"Unlock returns the loss that the context of the hold has told", l.Lost != l.NotHeld, returnsTheLoss},
		{"a key of another type is a loss", l.Lost != l.NotHeld, losesAKeyOfAnotherType},
		{"TryLock returns where the way to Redis takes longer than the lease", l.Lost != l.NotHeld, givesUpWhereTheWayIsTooLong},
		{"a key without a lease is a held lock", true, refusesWithoutALease},
		{"a user who may not set a lease gets no lock", l.has(failures.Reentry), needsTheRightToALease},
		{"a free lock is taken without a subscription", !polls, takesWithoutSubscription},
		{"a cancelled waiter unsubscribes", !polls, unsubscribes},
		{"HoldCount is how often the caller holds the lock, or an error", l.has(failures.Reentry), countsItsHolds},
		{"a re-entry that finds the lock gone tells the holder", l.has(failures.Reentry), tellsAtReentry},
		{"the same name of another client is no re-entry", l.has(failures.Reentry), reentersWithItsClientOnly},
		{"two calls of one owner at one instant are both counted", l.has(failures.Reentry), countsCallsAtOneInstant},
		{"an acquire of unknown outcome is cleaned up for a lease", l.Lost != l.NotHeld, cleansUpForALease},
		{"a refused acquire leaves nothing to clean up", l.Lost != l.NotHeld, leavesNothingToCleanUp},
		{"no key stays forever", l.NotHeld != nil, leavesNoKeyForever},
		{"every failure ends the same with another lease, and no value comes twice", true, keepsItsOutcomes},
	} {
		if promise.made {
			t.Run(promise.name, func(t *testing.T) { promise.check(t, l) })
		}
	}
}

// expects returns the outcome that is expected of a failure.
func (l Lock) expects(f failures.Failure) failures.Outcome {
	return failures.Expected(strings.TrimPrefix(l.Name, "stage"))(f)
}

func (l Lock) has(feature failures.Feature) bool { return slices.Contains(l.Has, feature) }

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

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
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
	Resends bool   // an Unlock that is not answered is sent again
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
	polls, tells := !l.has(catalogue.PubSub), l.NotHeld != nil
	for _, promise := range []struct {
		name  string
		made  bool
		check func(*testing.T, Lock)
	}{
		{"NewMutex refuses bad input", !l.Service, refusesBadInput},
		{"NewMutex refuses a ttl that it cannot renew", !l.Service && l.has(catalogue.Watchdog), refusesWhatItCannotRenew},
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
		{"a user who may not set a lease gets no lock", l.has(catalogue.Reentry), needsTheRightToALease},
		{"a free lock is taken without a subscription", !polls, takesWithoutSubscription},
		{"a cancelled waiter unsubscribes", !polls, unsubscribes},
		{"HoldCount is how often the caller holds the lock, or an error", l.has(catalogue.Reentry), countsItsHolds},
		{"a re-entry that finds the lock gone tells the holder", l.has(catalogue.Reentry), tellsAtReentry},
		{"the same name of another client is no re-entry", l.has(catalogue.Reentry), reentersWithItsClientOnly},
		{"two calls of one owner at one instant are both counted", l.has(catalogue.Reentry), countsCallsAtOneInstant},
		{"an acquire of unknown outcome is cleaned up for a lease", l.Lost != l.NotHeld, cleansUpForALease},
		{"a refused acquire leaves nothing to clean up", l.Lost != l.NotHeld, leavesNothingToCleanUp},
		{"a script that Redis stopped is sent once", l.Lost != l.NotHeld, sendsOnceWhatRedisStopped},
		{"an Unlock of unknown outcome says so", l.Resends, tellsWhatItDoesNotKnow},
		{"a renewal that Redis refuses is no loss", l.Lost != l.NotHeld, renewsAfterARefusal},
		{"data under the key is an error, and stays", l.has(catalogue.Reentry), refusesWhatIsNoLock},
		{"a hash that the user may not read is a held lock", l.has(catalogue.Reentry), takesForALockWhatItMayNotRead},
		{"a lock of Redisson is a held lock", l.has(catalogue.Reentry), waitsForALockOfAnotherLibrary},
		{"no key stays forever", l.NotHeld != nil, leavesNoKeyForever},
		{"every failure ends the same with another lease, and no value comes twice", true, keepsItsOutcomes},
	} {
		if promise.made {
			t.Run(promise.name, func(t *testing.T) { promise.check(t, l) })
		}
	}
}

// expects returns the outcome that is expected of a failure.
func (l Lock) expects(f catalogue.Failure) failures.Outcome {
	return failures.Expected(strings.TrimPrefix(l.Name, "stage"))(f)
}

func (l Lock) has(feature catalogue.Feature) bool { return slices.Contains(l.Has, feature) }

// Run is the trace of a scenario.
type Run struct{ *trace.Trace }

// Play runs a scenario in the controlled world, where Redis already knows the lock's scripts. The lease is 30 s.
func (l Lock) Play(t *testing.T, scenario func(*world.World)) Run {
	t.Helper()
	subject, err := failures.DiscoverScripts(t, l.Subject)
	require.NoError(t, err)
	config := subject.Config()
	config.Lock, config.Lease = name, lease
	tr, err := world.Run(t, config, scenario)
	require.NoError(t, err)
	return Run{tr}
}

// Executed returns the commands of a client that Redis ran, in order.
func (r Run) Executed(client string) (events []trace.Event) {
	for _, e := range r.Events {
		if e.Kind == trace.Executed && e.Client == client {
			events = append(events, e)
		}
	}
	return events
}

// Commands returns the executed commands as text: "DEL lock:order:1001".
func (r Run) Commands(client string) (lines []string) {
	for _, e := range r.Executed(client) {
		lines = append(lines, e.Line())
	}
	return lines
}

// Timed returns the executed commands with their times: "10s DEL lock:order:1001".
func (r Run) Timed(client string) (lines []string) {
	for _, e := range r.Executed(client) {
		lines = append(lines, e.At.String()+" "+e.Line())
	}
	return lines
}

// Returned returns the event in which the client's last call of op returned.
func (r Run) Returned(t *testing.T, client, op string) (last trace.Event) {
	t.Helper()
	for _, e := range r.Events {
		if e.Kind == trace.Returned && e.Client == client && e.Op == op {
			last = e
		}
	}
	require.NotNil(t, last.Result, "%s of %s did not come back", op, client)
	return last
}

// point is what the summary of a stage does not compute.
type point struct {
	stage    string
	is       string // what the first stage is
	asks     string // the failure that the question is about: it breaks this stage, and the next one fixes it
	question string
	chapter  int    // of the lesson, which asks it too
	notes    []note // in the order of the rows
}

// note is what the stage before does instead of a row of the summary. A test compares it with a run.
type note struct {
	on   string // how the row begins
	says string // part of a row of the other run, or of its findings, and when it is not at the same time; "": no such row
}

func (n note) text(stage string) string {
	return "(stage " + stage + ": " + cmp.Or(n.says, "never") + ")"
}

var points = []point{
	{
		stage: "1", asks: "crash-before-expire", chapter: 1,
		is:       "a key in Redis. SETNX creates it if it is not there, PEXPIRE gives it a lease, and DEL frees the lock.",
		question: "A's Lock sends SETNX, then PEXPIRE. You may kill A once. Where, so that nobody ever gets in again?",
	},
	{
		stage: "2", asks: "delete-foreign", chapter: 2,
		question: "A works longer than its lease, and B gets the lock. Then A calls Unlock, which sends DEL, and C calls TryLock. Who is inside now?",
		notes:    []note{{"A SET K", "no lease"}, {"lease over", "forever"}, {"B SET K", "in vain"}},
	},
	{
		stage: "3", asks: "check-then-delete", chapter: 3,
		question: "Unlock reads the value, compares it, and then deletes the key. A may stand still once, for 31 s. B asks at 31 s, and C when A's Unlock has returned. Where must A stop, so that C gets in while B is at work?",
		notes:    []note{{"A GET K", "wrong delete"}, {"C SET K", "C is inside"}},
	},
	{
		stage: "4", asks: "work-outlives-ttl", chapter: 4,
		question: "The lease is 30 s. A has seen that no tea is ordered; it works 32 s and then orders one. B asks at 31 s, looks, and orders one if there is none. How many teas? And if A works 29 s?",
		notes:    []note{{"A stands still", "before DEL K"}, {"A EVALSHA", "wrong delete"}, {"C SET K", "C is inside"}},
	},
	{
		stage: "5", asks: "renew-partition", chapter: 5,
		question: "A works. At 4 s its network dies, and no renewal gets through. B asks at 31 s. When does A learn of it?",
		notes:    []note{{"A background", "lease over at 30s"}, {"B SET K", "B is inside"}, {"A insert", `"tea" twice`}},
	},
	{
		stage: "6", asks: "write-delayed", chapter: 7,
		question: "A has the lock and sends a write, which is on its way for longer than the lease. B gets the lock and writes. Who can still stop A's write?",
		notes:    []note{{"A is told", ""}, {"B EVALSHA", "B is inside"}},
	},
}

package failures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
)

// mistake is what a mutant does wrong.
type mistake int

const (
	noMistake           mistake = iota
	waitsUnacknowledged         // waits for messages before SUBSCRIBE is acknowledged
	triesOnlyOnce               // does not try again after subscribing
	wakesOnlySleepers           // a wake-up is lost when nobody waits at that moment
	leaverEndsAll               // the first waiter that leaves ends the subscription
	keepsWakeUp                 // the next in the line does not ask Redis
	forgetsReconnects           // the acknowledgement after a reconnect wakes nobody
	onlyMessages                // no timer
	lastComeFirst               // the line is a stack
	keepsAsking                 // polls while it listens
	publishesAlways             // also when the lock stays held
	publishesNothing
	innerUnlockFrees   // the count in Redis is not asked
	takesBackTooMuch   // a failed inner acquire frees the outer hold
	countsLocally      // re-entry does not ask Redis
	countsUp           // a repeated acquire counts twice
	vanishedIsUnlocked // Unlock of nothing is a success
	oneOwnerForAll     // the owner is the object
	forcesSilently     // a forced unlock publishes nothing
)

// reentrantSubject is the lock with that mistake.
func reentrantSubject(wrong mistake) failures.Subject {
	return failures.Subject{
		Name: "re-entrant", New: newReentrant(wrong, false),
		Variants: map[failures.Variant]world.New{failures.FixedLease: newReentrant(wrong, true)},
		Has: []failures.Feature{
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Force,
		},
	}
}

// TestReentrantLockIsAcquitted is what makes the convictions of its mutants count.
func TestReentrantLockIsAcquitted(t *testing.T) {
	for _, f := range failures.All {
		if f.Family != failures.Waiting && f.Family != failures.Sharing && f.Family != failures.Owner {
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			v := run(t, f, reentrantSubject(noMistake))
			if want := failures.Stage(6)(f); want != v.Outcome {
				t.Log(timeline.Text(v.Trace, v.Findings, timeline.Options{}))
				t.Errorf("expected %s, got %s (%s)", want, v.Outcome, v.Sentence())
			}
			again := run(t, f, reentrantSubject(noMistake))
			require.Equal(t, string(v.Trace.Bytes()), string(again.Trace.Bytes()))
		})
	}
}

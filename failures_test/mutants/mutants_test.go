package mutants_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// mistake is what a mutant does wrong: a mistake of design that no single line of a stage
// shows. "" is none.
type mistake string

// kind is a lock that is correct without a mistake.
type kind struct {
	name     string
	subject  func(mistake) failures.Subject
	like     string             // the column whose outcomes it has
	families []failures.Family  // in these; nil: in all
	mutants  map[mistake]string // the failures that convict each mutant
	monitors map[oracle.Monitor]trial
}

// trial is a failure in which a monitor convicts the lock with the mistake, and acquits
// the lock without it.
type trial struct {
	failure string
	wrong   mistake
}

var kinds = []kind{
	{
		name: "plain", subject: plainSubject, like: "4",
		mutants: map[mistake]string{
			asksFirst:   "check-then-set",
			leasesNot:   "crash-before-expire",
			keepsValue:  "late-unlock",
			clings:      "late-unlock",
			sticks:      "unlock-after-failed-unlock",
			waitsNot:    "second-client",
			tryWaits:    "second-client",
			heedsNot:    "second-client",
			valueFirst:  "try-while-holding",
			saysBoth:    "oom",
			owesOne:     "stranger-unlock",
			asksOnAndOn: "each-grant-late",
			oneBucket:   "two-names-nested",
			linesUp:     "try-while-holding",
		},
		monitors: map[oracle.Monitor]trial{
			oracle.Waiting: {"second-client", waitsNot},
			oracle.Context: {"second-client", heedsNot},
		},
	},
	{
		name: "watched", subject: watchedSubject, like: "6",
		families: []failures.Family{failures.Lease, failures.Renewal, failures.Limits, failures.Fences},
		mutants: map[mistake]string{
			renewsBlindly:    "renew-foreign",
			renewsTooLate:    "work-outlives-ttl",
			renewsSeconds:    "work-outlives-ttl",
			leasesForHours:   "crash-before-expire",
			renewsWithoutEnd: "unlock-while-renewal-hangs",
			diesOfAnError:    "renew-blip",
			ignoresAnswer:    "key-gone",
			trustsTheNetwork: "renew-partition pool-starved work-outlives-fixed-lease",
			countsFromReply:  "deadline-from-reply renewal-from-reply",
			startsLate:       "unlock-at-once",
			stopsWithoutJoin: "dog-unlock-race",
			deletesFirst:     "unlock-error-dog-lives",
			stopsForGood:     "second-hold-renewed",
			knowsNoLimit:     "renewed-for-ever hold-dropped",
			watchesTwice:     "dog-per-reentry",
			countsTokens:     "token-after-flush token-after-failover",
			countsSeconds:    "token-after-flush token-after-failover",
			tokenAtWrite:     "process-pause-fenced clock-jump-fenced",
			tokenFirst:       "token-before-grant",
			tokenLast:        "token-after-grant",
			neverStops:       "second-hold-renewed",
			halvesAfterABlip: "renew-blip renew-blips",
			losesAtABlip:     "renew-blip",
			givesUpRenewing:  "renew-blip renew-blips",
			renewsFirstOnly:  "second-hold-renewed",
			diesOfTheSecond:  "renew-blips",
			leavesLossToDog:  "key-gone-at-unlock",
			renewsInContext:  "acquire-context-ends",
			renewsByTheClock: "short-lease-renewed",
			leasesByTheClock: "short-lease-renewed",
			renewsFractions:  "short-lease-renewed",
			startsInLock:     "second-hold-renewed",
		},
		monitors: map[oracle.Monitor]trial{
			oracle.WrongExtend:  {"renew-foreign", renewsBlindly},
			oracle.Watchdog:     {"renew-blip", diesOfAnError},
			oracle.RenewalCount: {"dog-per-reentry", watchesTwice},
			oracle.Lease:        {"second-client", leasesForHours},
			oracle.EarlyLoss:    {"renew-blip", losesAtABlip},
		},
	},
	{
		name: "re-entrant", subject: reentrantSubject, like: "6",
		families: []failures.Family{failures.Waiting, failures.Sharing, failures.Owner},
		mutants: map[mistake]string{
			waitsUnacknowledged: "wake-lost",
			triesOnlyOnce:       "wake-lost",
			wakesOnlySleepers:   "wake-early",
			leaverEndsAll:       "waiter-leaves",
			keepsWakeUp:         "wake-eaten",
			forgetsReconnects:   "pubsub-cut",
			forgetsRefusals:     "resubscribe-refused",
			onlyMessages:        "expiry-wakes",
			waitsInSeconds:      "expiry-wakes",
			lastComeFirst:       "fair-in-process",
			keepsAsking:         "idle-waiters",
			deafBehindOthers:    "waiter-gives-up",
			deafOnceWoken:       "waiter-gives-up",
			publishesAlways:     "partial-unlock-wakes",
			publishesNothing:    "unlock-wakes",
			innerUnlockFrees:    "inner-unlock-frees",
			countsAtOnce:        "reentries-at-once",
			triesInTurn:         "try-behind-reentry",
			takesBackTooMuch:    "inner-lock-fails",
			countsLocally:       "reentry-after-loss",
			countsUp:            "retry-count-two",
			vanishedIsUnlocked:  "hold-released-twice loss-hidden-at-unlock key-gone-at-unlock",
			oneOwnerForAll:      "second-goroutine-reenters",
			publishesFirst:      "publish-before-delete",
			publishesAfterwards: "publish-before-delete",
			freesTheNewest:      "delete-sibling",
			losesForAll:         "delete-sibling",
			zeroIsGranted:       "last-millisecond",
			forcesSilently:      "forced-unlock",
			renewsOnceClosed:    "close-after-lost-grant",
			closesSilently:      "close-after-lost-grant",
			waitsOnceClosed:     "close-after-lost-grant",
			closesEarly:         "close-during-unlock",
		},
		monitors: map[oracle.Monitor]trial{
			oracle.LostWakeUp:   {"unlock-wakes", publishesNothing},
			oracle.BoundedWait:  {"fair-in-process", lastComeFirst},
			oracle.HoldCount:    {"retry-count-two", countsUp},
			oracle.CommandCount: {"partial-unlock-wakes", publishesAlways},
		},
	},
}

func TestEachMutantIsConvicted(t *testing.T) {
	for _, k := range kinds {
		for wrong, convicts := range k.mutants {
			for _, id := range strings.Fields(convicts) {
				t.Run(string(wrong)+": "+id, func(t *testing.T) {
					require.Equal(t, failures.Broken, play(t, find(t, id), k.subject(wrong)).Outcome)
				})
			}
		}
	}
}

// What makes the convictions count: without its mistake each lock is safe, or as its stage.
func TestLocksWithoutAMistakeAreAcquitted(t *testing.T) {
	for _, k := range kinds {
		for _, f := range failures.All {
			if k.families != nil && !slices.Contains(k.families, f.Family) {
				continue
			}
			t.Run(k.name+": "+f.ID, func(t *testing.T) {
				v := play(t, f, k.subject(""))
				if v.Outcome == failures.NotApplicable {
					return
				}
				if want := stages.MustFind(k.like).Expect(f); want != v.Outcome && v.Outcome != failures.Safe {
					t.Log(timeline.Text(v.Trace, v.Findings, timeline.Options{}))
					t.Errorf("expected %s, got %s (%s)", want, v.Outcome, v.Sentence())
				}
				require.Equal(t, string(v.Trace.Bytes()), string(play(t, f, k.subject("")).Trace.Bytes()))
			})
		}
	}
}

func TestEachMonitorConvictsAMutant(t *testing.T) {
	for _, k := range kinds {
		for monitor, trial := range k.monitors {
			t.Run(string(monitor), func(t *testing.T) {
				f := find(t, trial.failure)
				f.Needs = nil // a lock that does not re-enter is acquitted: it asks once more in vain
				require.True(t, oracle.Violates(play(t, f, k.subject(trial.wrong)).Findings, monitor))
				require.False(t, oracle.Violates(play(t, f, k.subject("")).Findings, monitor))
			})
		}
	}
}

// The lock that re-enters needs no watchdog for each re-entry. Its Close leaves the key to its
// lease, and stage 6's frees it: both are right.
func TestWhatMayBeOtherwiseIsAcquitted(t *testing.T) {
	for _, id := range []string{"dog-per-reentry", "close-after-lost-grant", "close-during-unlock"} {
		require.Equal(t, failures.Safe, play(t, find(t, id), reentrantSubject("")).Outcome, id)
	}
}

func find(t *testing.T, id string) failures.Failure {
	t.Helper()
	f, found := failures.Find(id)
	require.True(t, found, id)
	return f
}

func play(t *testing.T, f failures.Failure, subject failures.Subject) failures.Verdict {
	t.Helper()
	subject, err := failures.DiscoverScripts(t, subject)
	require.NoError(t, err)
	v := failures.Run(t, f, subject)
	require.NoError(t, v.Err)
	return v
}

func TestUnlockThatFailedMayGoOnInTheBackground(t *testing.T) {
	v := play(t, find(t, "unlock-after-failed-unlock"), plainSubject(freesLater))
	require.Equal(t, failures.Safe, v.Outcome, v.Sentence())
}

// A lock that asks again at once where Redis has refused it never lets the run come to its end.
func TestLockThatAsksAgainAtOnceFloodsRedis(t *testing.T) {
	v := failures.Run(t, find(t, "oom"), plainSubject(asksAtOnce))
	require.ErrorContains(t, v.Err, "A floods Redis at ")
	require.NotEqual(t, failures.Safe, v.Outcome)
}

package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

// renews adds a renewal of that owner's key by a background goroutine of the client's process.
func (s *story) renews(client string, owner trace.Owner) *story {
	s.background(trace.Sent, client, "PEXPIRE").of(owner.Label)
	return s.add(trace.Event{
		Kind: trace.Executed, Client: client, Background: true, Command: []string{"PEXPIRE"}, Keys: s.keys,
		Effects: []trace.Effect{{Kind: trace.Leased, Key: "k", Owner: owner}},
	})
}

// of names the owner in the command of the last event.
func (s *story) of(label string) *story {
	last := &s.trace.Events[len(s.trace.Events)-1]
	last.Command = append(last.Command, label)
	return s
}

// installed is the owner of the first installation.
func (s *story) installed() trace.Owner { return s.trace.Events[1].Effects[0].Owner }

// taken is the key being removed by an event of that kind.
func (s *story) taken(kind trace.Kind, client string, owner trace.Owner) *story {
	return s.add(trace.Event{
		Kind: kind, Client: client, Command: []string{"DEL"},
		Effects: []trace.Effect{{Kind: trace.Removed, Key: "k", Owner: owner}},
	})
}

func TestRenewalOfAnothersKeyIsAWrongExtend(t *testing.T) {
	for client, wrong := range map[string]bool{"A": false, "B": true} {
		s := newStory().holds("A", "A1")
		s.renews(client, s.installed())
		require.Equal(t, wrong, s.breaks(oracle.WrongExtend), client)
	}
}

func TestKeyOfARenewedHolderMustNotExpire(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.pass(10*time.Second).renews("A", s.installed()).pass(30 * time.Second).lapse(s.installed())
	require.True(t, s.breaks(oracle.Watchdog))
}

func TestKeyMayExpireIfTheWatchdogCouldNotRenew(t *testing.T) {
	for name, s := range map[string]func(*story) *story{
		"the process is frozen": func(s *story) *story {
			return s.renews("A", s.installed()).happens(trace.Frozen, "A").pass(40 * time.Second)
		},
		"the process has just woken up": func(s *story) *story {
			s.renews("A", s.installed()).happens(trace.Frozen, "A").pass(25*time.Second).happens(trace.Thawed, "A")
			return s.pass(5 * time.Second)
		},
		"it has no network": func(s *story) *story {
			return s.renews("A", s.installed()).happens(trace.Cut, "A").pass(30 * time.Second)
		},
		"its last renewal was refused": func(s *story) *story {
			s.renews("A", s.installed()).pass(20*time.Second).background(trace.Refused, "A", "PEXPIRE")
			return s.pass(10 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s(newStory().holds("A", "A1"))
			require.False(t, s.lapse(s.installed()).breaks(oracle.Watchdog))
		})
	}
}

func TestHoldMustBeRenewedInAStoryAboutTheWatchdog(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.pass(30 * time.Second).lapse(s.installed())
	require.Empty(t, oracle.Judge(&s.trace))
	require.True(t, oracle.Violates(oracle.Judge(&s.trace, oracle.Watchdog), oracle.Watchdog))
}

// Each key could be renewed alone.
func TestRefusalOfSeveralSlotsDoesNotExcuseTheWatchdog(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.renews("A", s.installed()).pass(20*time.Second).background(trace.Sent, "A", "EVALSHA").background(trace.Refused, "A", "EVALSHA")
	s.trace.Events[len(s.trace.Events)-1].Reply = "(error) CROSSSLOT Keys in request don't hash to the same slot"
	require.True(t, s.pass(10*time.Second).lapse(s.installed()).happens(trace.Lost, "A").breaks(oracle.Watchdog))
}

// A's second grant is slow, and a renewal is due when it arrives.
func TestRenewalDuringASlowGrantIsNotTooLate(t *testing.T) {
	for label, wrong := range map[string]bool{"A2": false, "A1": true} {
		s := newStory().holds("A", "A1").pass(10 * time.Second)
		s.renews("A", s.installed()).frees("A", "A1").pass(5*time.Second).call("A", trace.OpLock).installs("A", "A2").pass(12 * time.Second)
		s.background(trace.Sent, "A", "PEXPIRE").of(label)
		require.Equal(t, wrong, s.returns("A", held).breaks(oracle.Watchdog), label)
	}
}

func TestOneRefusedRenewalDoesNotExcuseTheWatchdog(t *testing.T) {
	s := newStory().holds("A", "A1").pass(10 * time.Second)
	s.background(trace.Sent, "A", "PEXPIRE").background(trace.Refused, "A", "PEXPIRE")
	require.True(t, s.pass(20*time.Second).lapse(s.installed()).breaks(oracle.Watchdog))
}

func TestKeyMayExpireAsItsHolderIsTold(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.renews("A", s.installed()).pass(30*time.Second).lapse(s.installed()).happens(trace.Lost, "A")
	require.False(t, s.breaks(oracle.Watchdog))
}

func TestErrorIsNoReasonToStopRenewing(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.renews("A", s.installed()).pass(10*time.Second).background(trace.Sent, "A", "PEXPIRE").background(trace.Refused, "A", "PEXPIRE")
	s.pass(20*time.Second).lapse(s.installed()).happens(trace.Lost, "A")
	require.True(t, s.breaks(oracle.Watchdog))
}

func TestHoldMustBeRenewedLikeThePreviousOne(t *testing.T) {
	for renewed, wrong := range map[bool]bool{false: false, true: true} {
		s := newStory().holds("A", "A1")
		if renewed {
			s.renews("A", s.installed())
		}
		s.frees("A", "A1").call("A", trace.OpLock).installs("A", "A2").returns("A", held)
		second := s.trace.Events[len(s.trace.Events)-2].Effects[0].Owner
		s.pass(30*time.Second).lapse(second).happens(trace.Lost, "A")
		require.Equal(t, wrong, s.breaks(oracle.Watchdog), renewed)
	}
}

// A lock may have more keys than one, as Redlock has, each of which is renewed.
func TestRenewalsAreCountedForEachKey(t *testing.T) {
	for key, wrong := range map[string]bool{"k": true, "another": false} {
		s := newStory().holds("A", "A1").reenters("A")
		for range 3 {
			s.renews("A", s.installed())
			s.renews("A", s.installed())
			s.trace.Events[len(s.trace.Events)-1].Effects[0].Key = key
		}
		require.Equal(t, wrong, oracle.Violates(oracle.Ask(&s.trace, oracle.RenewalCount), oracle.RenewalCount), key)
	}
}

func TestRenewalAfterTheReleaseIsReportedAfterTheGrace(t *testing.T) {
	for after, wrong := range map[time.Duration]bool{time.Second: false, time.Second + time.Millisecond: true} {
		s := newStory().holds("A", "A1")
		s.renews("A", s.installed()).frees("A", "A1").pass(after)
		s.background(trace.Sent, "A", "PEXPIRE") // it finds nothing, but is too late anyway
		require.Equal(t, wrong, s.breaks(oracle.Watchdog), after)
	}
}

func TestRenewalDuringTheReleaseIsAllowed(t *testing.T) {
	for _, op := range []string{trace.OpUnlock, trace.OpClose} {
		s := newStory().holds("A", "A1")
		s.renews("A", s.installed()).call("A", op).pass(time.Minute).background(trace.Sent, "A", "PEXPIRE")
		require.False(t, s.breaks(oracle.Watchdog), op)
	}
}

func TestOtherCommandsMayFollowTheRelease(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.renews("A", s.installed()).frees("A", "A1").pass(time.Minute).background(trace.Sent, "A", "UNSUBSCRIBE")
	require.False(t, s.breaks(oracle.Watchdog))
}

func TestRenewalOfTheNextHoldIsAllowed(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.renews("A", s.installed()).frees("A", "A1").pass(time.Minute).holds("A", "A2")
	s.pass(10*time.Second).background(trace.Sent, "A", "PEXPIRE")
	require.False(t, s.breaks(oracle.Watchdog))
}

// reenters is a Lock by a client that holds the lock.
func (s *story) reenters(client string) *story {
	return s.call(client, trace.OpLock).does(client).returns(client, held)
}

// A lock that renews every sixth of its lease may do so as long as a re-entry changes nothing.
func TestReentryMustNotRenewMoreOften(t *testing.T) {
	for after, wrong := range map[time.Duration]bool{5 * time.Second: false, 4 * time.Second: true} {
		s := newStory().holds("A", "A1")
		for range 12 {
			s.pass(5*time.Second).renews("A", s.installed())
		}
		require.False(t, s.breaks(oracle.RenewalCount))
		s.reenters("A")
		for range 12 {
			s.pass(after).renews("A", s.installed())
		}
		require.Equal(t, wrong, s.breaks(oracle.RenewalCount), after)
	}
}

func TestFourRenewalsInALeaseAreAllowed(t *testing.T) {
	for every, wrong := range map[time.Duration]bool{7500 * time.Millisecond: false, 7 * time.Second: true} {
		s := newStory().holds("A", "A1").reenters("A")
		for range 8 {
			s.pass(every).renews("A", s.installed())
		}
		require.Equal(t, wrong, s.breaks(oracle.RenewalCount), every)
	}
}

// Commands of the business are not the lock's fault.
func TestCommandsOfTheBusinessAreNotReported(t *testing.T) {
	for op, wrong := range map[string]bool{trace.OpRun: false, trace.OpUnlock: true} {
		s := newStory().holds("A", "A1")
		owner := s.installed()
		s.call("B", op).does("B", trace.Effect{Kind: trace.Leased, Key: "k", Owner: owner})
		s.does("B", trace.Effect{Kind: trace.Removed, Key: "k", Owner: owner})
		require.Equal(t, wrong, s.breaks(oracle.WrongExtend), op)
		require.Equal(t, wrong, s.breaks(oracle.WrongDelete), op)
	}
	for op, wrong := range map[string]bool{trace.OpRun: false, trace.OpLock: true} {
		s := newStory().call("B", op).installs("B", "B1")
		s.keys[0].Type, s.keys[0].Entries = "hash", entries("B1=1")
		s.does("B").returns("B", done).pass(time.Minute).happens(trace.Slept, "")
		require.Equal(t, wrong, s.breaks(oracle.Leak), op)
		require.Equal(t, wrong, s.breaks(oracle.HoldCount), op)
	}
}

func TestHoldIsEndlessIfAllWaitersGiveUp(t *testing.T) {
	for lasts, endless := range map[time.Duration]bool{3 * time.Minute: false, 3*time.Minute + time.Second: true} {
		s := newStory().pass(time.Hour).holds("A", "A1").call("B", trace.OpLock).pass(lasts)
		s.add(trace.Event{Kind: trace.Blocked, Client: "B", Call: s.open["B"], Op: trace.OpLock})
		require.Equal(t, endless, s.breaks(oracle.EndlessHold), lasts)
	}
}

func TestHoldIsEndlessIfACallerIsRefused(t *testing.T) {
	for _, op := range []string{trace.OpLock, trace.OpTryLock} {
		for lasts, endless := range map[time.Duration]bool{3 * time.Minute: false, 3*time.Minute + time.Second: true} {
			s := newStory().holds("A", "A1").pass(lasts).call("B", op).returns("B", refused)
			require.Equal(t, endless, s.breaks(oracle.EndlessHold), "%s after %v", op, lasts)
		}
	}
}

// A holder whose key another client removed is told at its next renewal. Two clients
// inside until then are no violation.
func TestOverlapIsAllowedUntilTheHolderCanKnow(t *testing.T) {
	for name, trial := range map[string]struct {
		take      func(*story) *story
		told      time.Duration // after the key went; 0: never
		tolerated bool
	}{
		"forced by another process, told in time": {
			func(s *story) *story { return s.taken(trace.Executed, "C", s.installed()) }, 11 * time.Second, true,
		},
		"evicted, told in time": {
			func(s *story) *story { return s.taken(trace.Server, "", s.installed()) }, 11 * time.Second, true,
		},
		"evicted, told too late": {
			func(s *story) *story { return s.taken(trace.Server, "", s.installed()) }, 12 * time.Second, false,
		},
		"evicted, told by its next renewal": {
			func(s *story) *story {
				s.background(trace.Executed, "A", "PEXPIRE").pass(time.Second)
				return s.taken(trace.Server, "", s.installed()).pass(16*time.Second).background(trace.Executed, "A", "PEXPIRE")
			}, time.Second, true,
		},
		"evicted, told after its next renewal": {
			func(s *story) *story {
				s.taken(trace.Server, "", s.installed()).pass(5*time.Second).background(trace.Executed, "A", "PEXPIRE")
				return s.pass(11*time.Second).background(trace.Executed, "A", "PEXPIRE")
			}, time.Second, false,
		},
		"evicted, told in time after its next renewal": {
			func(s *story) *story {
				return s.taken(trace.Server, "", s.installed()).pass(2*time.Second).background(trace.Executed, "A", "PEXPIRE")
			}, 9 * time.Second, true,
		},
		"evicted, told by a renewal that comes after its lease": {
			func(s *story) *story {
				return s.taken(trace.Server, "", s.installed()).pass(31*time.Second).background(trace.Executed, "A", "PEXPIRE")
			}, time.Second, false,
		},
		"evicted, told by what another one renews": {
			func(s *story) *story {
				return s.taken(trace.Server, "", s.installed()).pass(16*time.Second).background(trace.Executed, "C", "PEXPIRE")
			}, time.Second, false,
		},
		"evicted, told of an earlier loss only": {
			func(s *story) *story {
				s.happens(trace.Lost, "A").pass(time.Second).holds("A", "A2").pass(time.Second)
				return s.taken(trace.Server, "", s.installed())
			}, 0, false,
		},
		"evicted, told, and inside again": {
			func(s *story) *story {
				return s.taken(trace.Server, "", s.installed()).pass(time.Second).happens(trace.Lost, "A").holds("A", "A2")
			}, 0, false,
		},
		"evicted, never told": {
			func(s *story) *story { return s.taken(trace.Server, "", s.installed()) }, 0, false,
		},
		"removed by its own process": {
			func(s *story) *story { return s.taken(trace.Executed, "A", s.installed()) }, time.Second, false,
		},
		"expired": {
			func(s *story) *story { return s.lapse(s.installed()) }, time.Second, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := trial.take(newStory().holds("A", "A1")).holds("B", "B1")
			if trial.told > 0 {
				s.pass(trial.told).happens(trace.Lost, "A")
			}
			require.Equal(t, trial.tolerated, !s.breaks(oracle.Exclusion))
		})
	}
}

func TestReleasedHoldMustNotBeReportedAsLost(t *testing.T) {
	for own, lie := range map[bool]bool{true: true, false: false} {
		s := newStory().holds("A", "A1")
		acquire := s.open["A"]
		if own {
			s.frees("A", "A1")
		} else {
			s.taken(trace.Server, "", s.installed())
		}
		s.add(trace.Event{Kind: trace.Lost, Client: "A", Call: acquire})
		require.Equal(t, lie, s.breaks(oracle.Truth))
	}
}

// A watchdog may renew before its Lock returns. If the acquire fails, it may not go on.
func TestRenewalDuringAnAcquireIsNotOfThePreviousHold(t *testing.T) {
	for result, wrong := range map[trace.Result]bool{held: false, unknown: true} {
		s := newStory().holds("A", "A1").frees("A", "A1").pass(time.Minute)
		s.call("A", trace.OpLock).installs("A", "A2")
		s.renews("A", s.owner("A", "A2"))
		require.False(t, s.breaks(oracle.Watchdog))
		s.returns("A", result).pass(10*time.Second).renews("A", s.owner("A", "A2"))
		require.Equal(t, wrong, s.breaks(oracle.Watchdog), result)
	}
}

// A string has no room for a count, so the count of such a lock is compared with its holds.
func TestCountKeptInTheProcessIsTheNumberOfHolds(t *testing.T) {
	for told, wrong := range map[int]bool{1: false, 2: true} {
		s := newStory().holds("A", "A1")
		s.keys[0].Type = "string"
		s.call("A", trace.OpCount).does("A").returns("A", trace.Result{Claim: trace.ClaimDone, Count: told})
		require.Equal(t, wrong, s.breaks(oracle.HoldCount), told)
	}
}

func TestWastedCommandsAreJudgedOnlyInStoriesAboutThem(t *testing.T) {
	s := newStory().holds("A", "A1").reenters("A")
	for range 8 {
		s.pass(time.Second).renews("A", s.installed())
	}
	require.Empty(t, oracle.Judge(&s.trace))
	require.NotEmpty(t, oracle.Judge(&s.trace, oracle.RenewalCount))
}

// Close frees what any client of its process holds, and nothing else.
func TestCloseActsForItsProcess(t *testing.T) {
	for process, wrong := range map[string]bool{"A": false, "B": true} {
		s := newStory().holds("A", "A1")
		freed := trace.Effect{Kind: trace.Removed, Key: "k", Owner: s.owner("A", "A1")}
		s.call("G", trace.OpClose).in(process).does("G", freed).in(process).returns("G", done).in(process)
		require.Equal(t, wrong, s.breaks(oracle.WrongDelete), process)
	}
}

// A client whose hold Close has ended may be told so after its key is gone; a client that has unlocked may not.
func TestHoldThatCloseEndedIsLost(t *testing.T) {
	for op, wrong := range map[string]bool{trace.OpClose: false, trace.OpUnlock: true} {
		s := newStory().holds("A", "A1")
		owner := s.owner("A", "A1")
		s.call("A", op).does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: owner})
		s.add(trace.Event{Kind: trace.Lost, Client: "A", Call: owner.Call})
		require.Equal(t, wrong, s.breaks(oracle.Truth), op)
	}
}

func TestRenewalAfterCloseIsReported(t *testing.T) {
	for _, closes := range []bool{false, true} {
		s := newStory().holds("A", "A1")
		if closes {
			s.call("G", trace.OpClose).returns("G", done)
			s.trace.Events[len(s.trace.Events)-1].Process = "A"
		}
		s.pass(10*time.Second).renews("A", s.installed())
		require.Equal(t, closes, s.breaks(oracle.Watchdog))
	}
}

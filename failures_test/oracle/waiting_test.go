package oracle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

func (s *story) breaks(m oracle.Rule) bool {
	return oracle.Violates(oracle.Judge(&s.trace, m), m)
}

func (s *story) happens(kind trace.Kind, client string) *story {
	return s.add(trace.Event{Kind: kind, Client: client})
}

// sends adds an event of a command of the client's open call: it leaves, or its reply arrives.
func (s *story) sends(kind trace.Kind, client, command string) *story {
	return s.add(trace.Event{
		Kind: kind, Client: client, Call: s.open[client], Op: s.op[client], Command: []string{command}, Request: s.request(kind, client+command),
	})
}

// request returns the request of an event: a command that leaves begins a new one.
func (s *story) request(kind trace.Kind, what string) int {
	if kind == trace.Sent {
		s.ids++
		s.sent[what] = s.ids
	}
	return s.sent[what]
}

// background adds a command sent by a background goroutine of the client's process.
func (s *story) background(kind trace.Kind, client, command string) *story {
	return s.add(trace.Event{Kind: kind, Client: client, Background: true, Command: []string{command}, Request: s.request(kind, client+command)})
}

// frees adds a whole Unlock that removes the client's key with that label.
func (s *story) frees(client, label string) *story {
	owner := s.owner(client, label)
	s.call(client, trace.OpUnlock)
	return s.does(client, trace.Effect{Kind: trace.Removed, Key: "k", Owner: owner}).returns(client, done)
}

// in sets the process of the last event.
func (s *story) in(process string) *story {
	s.trace.Events[len(s.trace.Events)-1].Process = process
	return s
}

func TestWaiterMayTakeTheGraceToGetAFreeLock(t *testing.T) {
	for what, grace := range map[string]time.Duration{"SUBSCRIBE": time.Second, "SET": 11 * time.Second} {
		for after, lost := range map[time.Duration]bool{grace: false, grace + time.Millisecond: true} {
			s := newStory().holds("A", "A1").call("B", trace.OpLock)
			s.sends(trace.Sent, "B", what).sends(trace.Delivered, "B", what)
			s.sends(trace.Sent, "B", "GET").sends(trace.Delivered, "B", "GET").pass(time.Minute)
			s.frees("A", "A1").pass(after).installs("B", "B1").returns("B", held)
			require.Equal(t, lost, s.breaks(oracle.LostWakeUp), "%s %v", what, after)
		}
	}
}

// B asks ten times a second, and Redis says no although there is no key.
func TestPollingWaiterGetsTheLockWithinAFewPauses(t *testing.T) {
	for after, late := range map[time.Duration]bool{1300 * time.Millisecond: false, 1400 * time.Millisecond: true} {
		s := newStory().holds("A", "A1").call("B", trace.OpLock)
		asks := func(d time.Duration) {
			for range d / (100 * time.Millisecond) {
				s.pass(100*time.Millisecond).sends(trace.Sent, "B", "SET").sends(trace.Delivered, "B", "SET")
			}
		}
		asks(5 * time.Second)
		s.frees("A", "A1")
		asks(after)
		require.Equal(t, late, s.installs("B", "B1").returns("B", held).breaks(oracle.LostWakeUp), after)
	}
}

// In real time, two commands of one attempt are not sent at the same moment. That is no pause.
func TestCommandsOfOneAttemptAreNoPause(t *testing.T) {
	for after, late := range map[time.Duration]bool{10 * time.Second: false, 12 * time.Second: true} {
		s := newStory().holds("A", "A1").call("B", trace.OpLock)
		s.trace.Slack = 50 * time.Millisecond
		s.sends(trace.Sent, "B", "SET").sends(trace.Delivered, "B", "SET").pass(2 * time.Millisecond)
		s.sends(trace.Sent, "B", "DEL").sends(trace.Delivered, "B", "DEL")
		s.frees("A", "A1").pass(after)
		require.Equal(t, late, s.installs("B", "B1").returns("B", held).breaks(oracle.LostWakeUp), after)
	}
}

// B waits in Redis for an element of a list, and the lock is free meanwhile.
func TestWaiterThatRedisBlocksIsNotServed(t *testing.T) {
	for after, late := range map[time.Duration]bool{10 * time.Second: false, 12 * time.Second: true} {
		s := newStory().holds("A", "A1").call("B", trace.OpLock)
		s.sends(trace.Sent, "B", "SET").sends(trace.Delivered, "B", "SET").sends(trace.Sent, "B", "BLPOP")
		s.frees("A", "A1").pass(after)
		require.Equal(t, late, s.installs("B", "B1").returns("B", held).breaks(oracle.LostWakeUp), after)
	}
}

// A client that listens, and asks every second as well, may be served a pause later. It may not stop asking.
func TestListenerThatAlsoAsksMayWaitForAPause(t *testing.T) {
	for after, late := range map[time.Duration]bool{1900 * time.Millisecond: false, 2100 * time.Millisecond: true} {
		s := newStory().holds("A", "A1").call("B", trace.OpLock)
		s.background(trace.Sent, "B", "SUBSCRIBE").background(trace.Delivered, "B", "SUBSCRIBE")
		for range 5 {
			s.sends(trace.Sent, "B", "SET").sends(trace.Delivered, "B", "SET").pass(time.Second)
		}
		s.frees("A", "A1").pass(after)
		require.Equal(t, late, s.installs("B", "B1").returns("B", held).breaks(oracle.LostWakeUp), after)
	}
}

// A client whose SUBSCRIBE Redis refuses may pause for as long as one that does not listen.
func TestWaiterWhoseSubscribeIsRefusedMustPoll(t *testing.T) {
	for answer, grace := range map[string]time.Duration{"(error) NOPERM": 11 * time.Second, "OK": time.Second} {
		for after, lost := range map[time.Duration]bool{grace: false, grace + time.Millisecond: true} {
			s := newStory().holds("A", "A1").call("B", trace.OpLock)
			s.background(trace.Sent, "B", "SUBSCRIBE").background(trace.Delivered, "B", "SUBSCRIBE")
			s.trace.Events[len(s.trace.Events)-1].Reply = answer
			s.frees("A", "A1").pass(after).installs("B", "B1").returns("B", held)
			require.Equal(t, lost, s.breaks(oracle.LostWakeUp), "%s %v", answer, after)
		}
	}
}

// B sends a SUBSCRIBE every half a second. While one is on its way, B may wait for it only if
// the one before has succeeded.
func TestSubscribeThatKeepsFailingIsNoReasonToWait(t *testing.T) {
	tries := func(kind trace.Kind, reply string, grace time.Duration) *story {
		s := newStory().holds("A", "A1").call("B", trace.OpLock).frees("A", "A1")
		for range grace / (time.Second / 2) {
			s.background(trace.Sent, "B", "SUBSCRIBE").background(kind, "B", "SUBSCRIBE")
			s.trace.Events[len(s.trace.Events)-1].Reply = reply
			s.pass(time.Second / 2)
		}
		return s.pass(time.Millisecond).installs("B", "B1").returns("B", held)
	}
	for name, failed := range map[string]func(time.Duration) *story{
		"its connection breaks": func(d time.Duration) *story { return tries(trace.Dropped, "", d) },
		"Redis refuses":         func(d time.Duration) *story { return tries(trace.Delivered, "(error) LOADING", d) },
	} {
		require.False(t, failed(10*time.Second).breaks(oracle.LostWakeUp), name)
		require.True(t, failed(12*time.Second).breaks(oracle.LostWakeUp), name)
	}
	require.False(t, tries(trace.Delivered, "OK", 12*time.Second).breaks(oracle.LostWakeUp))
}

// D dies before it has a key in Redis: B has no reason to wait for it.
func TestDeadProcessWithoutAKeyIsNoReasonToWait(t *testing.T) {
	s := newStory().call("D", trace.OpLock).happens(trace.Crashed, "D").call("B", trace.OpLock).pass(20 * time.Second)
	found := oracle.Ask(&s.sends(trace.Blocked, "B", "").trace, oracle.Deadlock)
	require.Len(t, found, 1)
	require.Equal(t, "B waited 20s in vain: no live client holds the lock", found[0].Text)
}

func TestDeadProcessWhoseKeyIsGoneIsNoReasonToWait(t *testing.T) {
	for _, gone := range []bool{false, true} {
		s := newStory().holds("D", "D1").happens(trace.Crashed, "D")
		if gone {
			s.taken(trace.Server, "", s.installed())
		}
		s.call("B", trace.OpLock).pass(20*time.Second).sends(trace.Blocked, "B", "")
		require.Equal(t, gone, s.breaks(oracle.Deadlock))
	}
}

// A waiter learns that Redis has lost the key, or that the business has removed it, when the lease
// would have ended.
func TestLostKeyIsAReasonToWaitForALease(t *testing.T) {
	for _, test := range []struct {
		kind   trace.Kind
		op     string
		waits  bool // when the key goes
		after  time.Duration
		broken bool
	}{
		{trace.Server, "", true, 30 * time.Second, false},
		{trace.Server, "", true, 32 * time.Second, true},
		{trace.Server, "", false, 20 * time.Second, true},
		{trace.Executed, trace.OpRun, true, 30 * time.Second, false},
		{trace.Executed, trace.OpUnlock, true, 20 * time.Second, true},
	} {
		s := newStory().holds("A", "A1")
		if test.waits {
			s.call("B", trace.OpLock)
		}
		s.taken(test.kind, "", s.installed())
		s.trace.Events[len(s.trace.Events)-1].Op = test.op
		s.call("A", trace.OpUnlock).returns("A", refused)
		if !test.waits {
			s.call("B", trace.OpLock)
		}
		s.pass(test.after).add(trace.Event{Kind: trace.Blocked, Client: "B", Call: s.open["B"], Op: trace.OpLock})
		require.Equal(t, test.broken, s.breaks(oracle.Deadlock), "%+v", test)
	}
}

// Without a network it cannot know that the lock is free.
func TestWaiterWithoutNetworkIsNotInADeadlock(t *testing.T) {
	answerIsLate := func(effects ...trace.Effect) *story {
		s := newStory().call("B", trace.OpLock).call("A", trace.OpLock).sends(trace.Sent, "A", "SET").sends(trace.Executed, "A", "SET")
		s.trace.Events[len(s.trace.Events)-1].Effects = effects
		return s
	}
	grant := trace.Effect{Kind: trace.Installed, Key: "k", Owner: trace.Owner{Label: "A1", Client: "A", Process: "A"}}
	for name, s := range map[string]*story{
		"its command is late":  newStory().call("B", trace.OpLock).sends(trace.Sent, "B", "SET"),
		"its network is gone":  newStory().call("B", trace.OpLock).happens(trace.Cut, "B"),
		"it is paused":         newStory().call("B", trace.OpLock).happens(trace.Frozen, "B"),
		"a grant is late":      answerIsLate(grant),
		"an Unlock is cut off": newStory().holds("A", "A1").call("B", trace.OpLock).happens(trace.Cut, "A").call("A", trace.OpUnlock),
		"an Unlock is late":    newStory().holds("A", "A1").call("B", trace.OpLock).call("A", trace.OpUnlock).sends(trace.Sent, "A", "DEL"),
	} {
		s.pass(20 * time.Second).add(trace.Event{Kind: trace.Blocked, Client: "B", Call: s.open["B"], Op: trace.OpLock})
		require.False(t, s.breaks(oracle.Deadlock), name)
	}
	for name, s := range map[string]*story{
		"it was answered long ago":   newStory().call("B", trace.OpLock).sends(trace.Sent, "B", "SET").sends(trace.Delivered, "B", "SET"),
		"a command of its goroutine": newStory().call("B", trace.OpLock).background(trace.Sent, "B", "EVALSHA"),
		"an Unlock sends nothing":    newStory().holds("A", "A1").call("B", trace.OpLock).call("A", trace.OpUnlock),
		"a refusal is late":          answerIsLate(),
		"an Unlock is cut off, and the key has gone": newStory().holds("A", "A1").frees("A", "A1").call("B", trace.OpLock).
			happens(trace.Cut, "A").call("A", trace.OpUnlock),
		"its new holder gave up":  answerIsLate(grant).returns("A", unknown),
		"an Unlock has returned":  newStory().holds("A", "A1").call("B", trace.OpLock).call("A", trace.OpUnlock).sends(trace.Sent, "A", "DEL").returns("A", unknown),
		"it has its network back": newStory().call("B", trace.OpLock).happens(trace.Cut, "B").happens(trace.Healed, "B"),
	} {
		s.pass(20 * time.Second).add(trace.Event{Kind: trace.Blocked, Client: "B", Call: s.open["B"], Op: trace.OpLock})
		require.True(t, s.breaks(oracle.Deadlock), name)
	}
}

func TestLeaseThatEndsHasToBeNoticedByTheWaiter(t *testing.T) {
	s := newStory().holds("A", "A1")
	a := s.trace.Events[1].Effects[0].Owner
	s.happens(trace.Crashed, "A").call("B", trace.OpLock).background(trace.Sent, "B", "SUBSCRIBE")
	s.background(trace.Delivered, "B", "SUBSCRIBE").pass(30 * time.Second).lapse(a)
	require.False(t, s.pass(time.Second).happens(trace.Slept, "").breaks(oracle.LostWakeUp))
	require.True(t, s.pass(time.Second).happens(trace.Slept, "").breaks(oracle.LostWakeUp))
}

func TestWaiterThatCannotKnowIsNotJudged(t *testing.T) {
	freed := func() *story { return newStory().holds("A", "A1").call("B", trace.OpLock).frees("A", "A1") }
	for name, s := range map[string]*story{
		"frozen":                        freed().happens(trace.Frozen, "B").pass(time.Minute).happens(trace.Thawed, "B"),
		"without a network":             freed().happens(trace.Cut, "B").pass(time.Minute).happens(trace.Healed, "B"),
		"cancelled":                     freed().sends(trace.Cancelled, "B", "").pass(time.Minute),
		"its attempt is on the way":     freed().sends(trace.Sent, "B", "DO").pass(time.Minute).sends(trace.Delivered, "B", "DO"),
		"its SUBSCRIBE is on the way":   freed().background(trace.Sent, "B", "SUBSCRIBE").pass(time.Minute),
		"Redis has lost the key":        newStory().holds("A", "A1").call("B", trace.OpLock).add(trace.Event{Kind: trace.Server}).pass(time.Minute),
		"there never was a key":         newStory().call("B", trace.OpLock).pass(time.Minute),
		"the lock was taken in between": freed().holds("C", "C1").pass(time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			require.False(t, s.happens(trace.Slept, "").breaks(oracle.LostWakeUp))
		})
	}
	s := freed().background(trace.Sent, "B", "EVALSHA").pass(time.Minute).happens(trace.Slept, "")
	require.True(t, s.breaks(oracle.LostWakeUp), "waiters do not wait for renewals")
	s = freed().sends(trace.Sent, "B", "DO").pass(time.Minute).sends(trace.Delivered, "B", "DO").pass(time.Minute)
	require.True(t, s.happens(trace.Slept, "").breaks(oracle.LostWakeUp), "the attempt returned long ago")
}

func TestWaiterMayOvertakeOnlyWaitersOfOtherProcesses(t *testing.T) {
	for process, overtaken := range map[string]bool{"B": true, "G": false} {
		s := newStory().holds("A", "A1").call("B", trace.OpLock).pass(time.Second)
		s.call("G", trace.OpLock).in(process).pass(time.Second).frees("A", "A1")
		s.installs("G", "G1").returns("G", held).in(process)
		require.Equal(t, overtaken, s.breaks(oracle.BoundedWait), process)
	}
}

func TestWaiterThatLeftIsNotOvertaken(t *testing.T) {
	s := newStory().holds("A", "A1").call("B", trace.OpLock).pass(time.Second)
	s.call("G", trace.OpLock).in("B").pass(time.Second).sends(trace.Cancelled, "B", "").frees("A", "A1")
	s.installs("G", "G1").returns("G", held).in("B")
	require.False(t, s.breaks(oracle.BoundedWait))
}

// counts makes Redis hold a hash with that value after the last step.
func (s *story) counts(value string) *story {
	s.keys = []trace.Key{{
		Name: "k", Type: "hash", Entries: entries(value), TTL: 30 * time.Second, Owner: trace.Owner{Label: "A1", Client: "A"},
	}}
	return s.does("A", trace.Effect{Kind: trace.Counted, Key: "k", Owner: trace.Owner{Label: "A1", Client: "A"}})
}

// entries are the fields of a hash: "A1=2 B1=1".
func entries(fields string) (all []trace.Entry) {
	for field := range strings.FieldsSeq(fields) {
		label, count, _ := strings.Cut(field, "=")
		all = append(all, trace.Entry{Field: label, Value: count, ID: label, Counts: true, Owner: trace.Owner{Label: label, Client: label[:1]}})
	}
	return all
}

func TestCountInRedisIsTheNumberOfHolds(t *testing.T) {
	for value, wrong := range map[string]bool{"A1=2": false, "A1=1": true, "A1=3": true, "B1=9": false, "A1=2 B1=1": false} {
		s := newStory().holds("A", "A1").call("A", trace.OpLock).counts(value).returns("A", held)
		require.Equal(t, wrong, s.breaks(oracle.HoldCount), value)
	}
}

func TestAnswerOfHoldCountIsTheCountInRedis(t *testing.T) {
	for answer, wrong := range map[int]bool{1: false, 0: true, 2: true} {
		s := newStory().holds("A", "A1").call("A", trace.OpCount).counts("A1=1")
		s.returns("A", trace.Result{Claim: trace.ClaimDone, Count: answer})
		require.Equal(t, wrong, s.breaks(oracle.HoldCount), answer)
	}
}

func TestHoldThatEndedByItselfIsNotCounted(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.lapse(s.trace.Events[1].Effects[0].Owner).call("A", trace.OpLock).counts("A2=1").returns("A", held)
	require.False(t, s.breaks(oracle.HoldCount))
	s.call("A", trace.OpUnlock).returns("A", done).call("A", trace.OpUnlock).returns("A", done)
	s.call("A", trace.OpLock).counts("A3=2").returns("A", held)
	require.True(t, s.breaks(oracle.HoldCount), "all holds are new again")

	s = newStory().installs("A", "A1")
	s.lapse(s.trace.Events[0].Effects[0].Owner).call("A", trace.OpLock).counts("A2=2").returns("A", held)
	require.True(t, s.breaks(oracle.HoldCount), "no hold was lost")
}

func TestCountIsNotJudgedAfterAnUnknownOutcome(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpLock).counts("A1=2").returns("A", unknown)
	require.False(t, s.breaks(oracle.HoldCount))
}

func TestHolderIsToldItsCount(t *testing.T) {
	for answer, wrong := range map[trace.Result]bool{{Count: 1, Claim: trace.ClaimDone}: false, refused: true, unknown: false} {
		s := newStory().holds("A", "A1").call("A", trace.OpCount).does("A").returns("A", answer)
		require.Equal(t, wrong, s.breaks(oracle.HoldCount), answer)
	}
	stranger := newStory().call("A", trace.OpCount).does("A").returns("A", refused)
	require.False(t, stranger.breaks(oracle.HoldCount), "a client without a hold may be refused")
	lost := newStory().holds("A", "A1")
	lost.lapse(lost.trace.Events[1].Effects[0].Owner).call("A", trace.OpCount).returns("A", refused)
	require.False(t, lost.breaks(oracle.HoldCount), "a client whose key is gone may be refused")
}

func TestInnerUnlockFreesNothingAndIsTrue(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpLock).counts("A1=2").returns("A", held)
	s.call("A", trace.OpUnlock).counts("A1=1").returns("A", done)
	require.Empty(t, s.found())
	require.Empty(t, s.pass(10*time.Second).happens(trace.Slept, "").found(), "the outer hold is no leak")
	s.call("A", trace.OpUnlock).counts("A1=0").returns("A", refused)
	require.Contains(t, s.found(), oracle.Truth, "refused, although the count went down")
}

func TestCountThatStaysAfterTheLastUnlockIsALeak(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpUnlock).counts("A1=1").returns("A", done)
	s.pass(2*time.Second).happens(trace.Slept, "")
	require.True(t, s.breaks(oracle.Leak))
}

func TestUnlockOfEachLostHoldReportsTheLoss(t *testing.T) {
	for answer, noticed := range map[trace.Result]bool{done: false, refused: true} {
		s := newStory().holds("A", "A1").call("A", trace.OpLock).counts("A1=2").returns("A", held)
		s.lapse(s.trace.Events[1].Effects[0].Owner)
		s.call("A", trace.OpUnlock).does("A").returns("A", refused)
		s.call("A", trace.OpUnlock).does("A").returns("A", answer)
		require.Equal(t, noticed, !s.breaks(oracle.LossHidden), answer)
	}
}

// It took the lock again in its own memory.
func TestReentryDoesNotHideALoss(t *testing.T) {
	s := newStory().holds("A", "A1")
	s.lapse(s.installed()).call("A", trace.OpLock).returns("A", held).call("A", trace.OpUnlock).returns("A", done)
	require.True(t, s.breaks(oracle.LossHidden))
}

func TestReentryWithoutACommandIsTrueWhileTheKeyIsThere(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpLock).returns("A", held)
	require.False(t, s.breaks(oracle.Truth))
	s = newStory().holds("A", "A1")
	s.lapse(s.trace.Events[1].Effects[0].Owner).call("A", trace.OpLock).returns("A", held)
	require.True(t, s.breaks(oracle.Truth))
}

func TestExtraUnlockMustFail(t *testing.T) {
	s := newStory().holds("A", "A1").frees("A", "A1").call("A", trace.OpUnlock).returns("A", done)
	require.True(t, s.breaks(oracle.Truth))
}

func TestForcedUnlockIsNoWrongDelete(t *testing.T) {
	s := newStory().holds("A", "A1")
	a := s.trace.Events[1].Effects[0].Owner
	s.call("B", trace.OpForce).does("B", trace.Effect{Kind: trace.Removed, Key: "k", Owner: a}).returns("B", done)
	require.False(t, s.breaks(oracle.WrongDelete))
}

// asks makes the client's open call send that many commands.
func (s *story) asks(client string, times int) *story {
	for range times {
		s.sends(trace.Sent, client, "DO")
	}
	return s
}

func TestWaiterThatListensMayAskAFewTimes(t *testing.T) {
	listens := func() *story {
		return newStory().holds("A", "A1").call("B", trace.OpLock).sends(trace.Sent, "B", "SUBSCRIBE")
	}
	inRealTime := func() *story {
		s := listens()
		s.trace.Slack = 50 * time.Millisecond
		return s
	}
	for name, c := range map[string]struct {
		story *story
		busy  bool
	}{
		"to begin with":        {listens().asks("B", 3), false},
		"once more":            {listens().asks("B", 4), true},
		"when the lock's free": {listens().frees("A", "A1").asks("B", 5), false},
		"after a lease":        {listens().pass(30*time.Second).asks("B", 6), false},
		"too often in a lease": {listens().pass(30*time.Second).asks("B", 7), true},
		"in a real lease":      {inRealTime().pass(30*time.Second).asks("B", 9), false},
		"too often in it":      {inRealTime().pass(30*time.Second).asks("B", 10), true},
		"after a fault":        {listens().happens(trace.Thawed, "B").asks("B", 5), false},
		"when it polls":        {newStory().holds("A", "A1").call("B", trace.OpLock).asks("B", 300), false},
		"as a holder does":     {listens().returns("B", held).asks("B", 300), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.busy, c.story.happens(trace.Slept, "").breaks(oracle.CommandCount))
		})
	}
}

func TestPingsAndRenewalsAreNoChatter(t *testing.T) {
	s := newStory().call("B", trace.OpLock).sends(trace.Sent, "B", "SUBSCRIBE")
	for range 100 {
		s.background(trace.Sent, "B", "PING")
	}
	require.False(t, s.breaks(oracle.CommandCount))
	s.call("G", trace.OpTryLock).in("B").returns("G", held).in("B")
	for range 100 {
		s.background(trace.Sent, "B", "EVALSHA")
	}
	require.False(t, s.breaks(oracle.CommandCount), "another goroutine of the process holds the lock and renews")
	s = newStory().call("B", trace.OpLock).sends(trace.Sent, "B", "SUBSCRIBE")
	for range 100 {
		s.background(trace.Sent, "B", "EVALSHA")
	}
	require.True(t, s.breaks(oracle.CommandCount))
}

func TestWaiterMayGiveUpWithItsOwnError(t *testing.T) {
	waits := func(answer trace.Result, after time.Duration) *story {
		s := newStory().call("B", trace.OpLock).pass(after)
		s.trace.Events[0].Bound = 5 * time.Second
		s.returns("B", answer)
		s.trace.Events[1].Bound = 5 * time.Second
		return s
	}
	require.True(t, waits(unknown, 5*time.Second).breaks(oracle.Deadlock))
	require.True(t, waits(refused, 5*time.Second).breaks(oracle.Deadlock), "it refuses as its context ends")
	require.False(t, waits(refused, 4*time.Second).breaks(oracle.Deadlock), "it refuses before its context ends")

	s := newStory().holds("A", "A1").pass(10*time.Minute).call("B", trace.OpLock)
	s.trace.Events[len(s.trace.Events)-1].Bound = 5 * time.Second
	s.pass(5*time.Second).returns("B", refused)
	s.trace.Events[len(s.trace.Events)-1].Bound = 5 * time.Second
	require.True(t, s.breaks(oracle.EndlessHold))
}

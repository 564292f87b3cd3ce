package oracle_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

// story builds a trace event by event.
type story struct {
	trace trace.Trace
	now   time.Duration
	calls int
	open  map[string]int    // client → its open call
	op    map[string]string // client → the operation of that call
	keys  []trace.Key
	sent  map[string]int // client and command → the request
	ids   int
}

func newStory() *story {
	return &story{trace: trace.Trace{Lease: 30 * time.Second}, open: map[string]int{}, op: map[string]string{}, sent: map[string]int{}}
}

func (s *story) add(e trace.Event) *story {
	e.Step, e.At = len(s.trace.Events)+1, s.now
	if e.Client != "" && e.Process == "" {
		e.Process = e.Client
	}
	s.trace.Events = append(s.trace.Events, e)
	return s
}

func (s *story) pass(d time.Duration) *story { s.now += d; return s }

func (s *story) call(client, op string) *story {
	s.calls++
	s.open[client], s.op[client] = s.calls, op
	return s.add(trace.Event{Kind: trace.Called, Client: client, Call: s.calls, Op: op})
}

// does adds a command of the client's open call with these effects.
func (s *story) does(client string, effects ...trace.Effect) *story {
	for _, e := range effects {
		if e.Kind == trace.Installed {
			s.keys = []trace.Key{{Name: e.Key, Owner: e.Owner, TTL: 30 * time.Second}}
		} else if e.Kind == trace.Removed {
			s.keys = nil
		}
	}
	return s.add(trace.Event{
		Kind: trace.Executed, Client: client, Call: s.open[client], Op: s.op[client],
		Command: []string{"DO"}, Effects: effects, Keys: s.keys,
	})
}

func (s *story) installs(client, label string) *story {
	return s.does(client, trace.Effect{Kind: trace.Installed, Key: "k", Owner: s.owner(client, label)})
}

func (s *story) owner(client, label string) trace.Owner {
	return trace.Owner{Label: label, Client: client, Process: client, Call: s.open[client]}
}

func (s *story) lapse(owner trace.Owner) *story {
	s.keys = nil
	return s.add(trace.Event{Kind: trace.Expired, Effects: []trace.Effect{{Kind: trace.Lapsed, Key: "k", Owner: owner}}})
}

func (s *story) returns(client string, r trace.Result) *story {
	return s.add(trace.Event{Kind: trace.Returned, Client: client, Call: s.open[client], Op: s.op[client], Result: &r})
}

var (
	held    = trace.Result{Held: true, Claim: trace.ClaimDone}
	done    = trace.Result{Claim: trace.ClaimDone}
	refused = trace.Result{Claim: trace.ClaimRefused}
	unknown = trace.Result{Claim: trace.ClaimUnknown, Error: "context deadline exceeded"}
)

// holds adds a whole Lock that succeeds.
func (s *story) holds(client, label string) *story {
	return s.call(client, trace.OpLock).installs(client, label).returns(client, held)
}

func (s *story) found() []oracle.Rule {
	var names []oracle.Rule
	for _, f := range oracle.Judge(&s.trace) {
		names = append(names, f.Rule)
	}
	return names
}

func TestHolderNoLongerBelievesAfterUnlock(t *testing.T) {
	s := newStory().holds("A", "A1")
	a := s.trace.Events[1].Effects[0].Owner
	s.call("A", trace.OpUnlock).does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: a}).holds("B", "B1")
	require.Empty(t, s.found())
}

func TestOnlyAHolderCanNoticeALoss(t *testing.T) {
	s := newStory().happens(trace.Lost, "A")
	require.False(t, oracle.Noticed(&s.trace))
	s.holds("A", "A1").happens(trace.Lost, "A")
	require.True(t, oracle.Noticed(&s.trace))
}

// Its key is in Redis, also if another client believes that it holds the lock.
func TestUnlockMustNotRefuseItsOwnKey(t *testing.T) {
	s := newStory().holds("A", "A1").call("B", trace.OpLock).returns("B", held).call("A", trace.OpUnlock)
	found := oracle.Ask(&s.does("A").returns("A", refused).trace, oracle.Truth)
	require.Len(t, found, 2, "and B got no key")
	require.Equal(t, "A", found[1].Client)
}

func TestUnlockMayFreeItsKeyAMomentLater(t *testing.T) {
	for after, wrong := range map[time.Duration]bool{time.Second: false, 3 * time.Second: true} {
		s := newStory().holds("A", "A1").call("A", trace.OpUnlock).returns("A", done).pass(after)
		s.does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: s.trace.Events[1].Effects[0].Owner})
		s.pass(time.Minute).happens(trace.Slept, "")
		require.Equal(t, wrong, s.breaks(oracle.Truth), after)
	}
}

// The story goes on after a finding, and the fault lasts.
func TestLastingFaultIsReportedOnce(t *testing.T) {
	kept := newStory().holds("A", "A1").call("A", trace.OpUnlock).returns("A", done)
	long := newStory().call("A", trace.OpLock).installs("A", "A1")
	long.keys[0].TTL = time.Hour
	long.does("A", trace.Effect{Kind: trace.Leased, Key: "k", Owner: long.owner("A", "A1")})
	asleep := newStory().holds("A", "A1").call("B", trace.OpLock).frees("A", "A1")
	for rule, s := range map[oracle.Rule]*story{oracle.Truth: kept, oracle.Lease: long, oracle.LostWakeUp: asleep} {
		for range 3 {
			s.pass(time.Minute).happens(trace.Slept, "")
		}
		require.Len(t, oracle.Ask(&s.trace, rule), 1, rule)
	}
}

func TestDeadHolderNoLongerBelieves(t *testing.T) {
	s := newStory().holds("A", "A1")
	a := s.trace.Events[1].Effects[0].Owner
	s.add(trace.Event{Kind: trace.Crashed, Client: "A"}).pass(30*time.Second).lapse(a).holds("B", "B1")
	require.Empty(t, s.found())
}

func TestReentrantHolderBelievesUntilTheSecondUnlock(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpLock).does("A").returns("A", held)
	s.call("A", trace.OpUnlock).does("A").holds("B", "B1")
	require.Contains(t, s.found(), oracle.Exclusion)
}

func TestTwoInsideBecauseOfAShortLease(t *testing.T) {
	s := newStory().call("A", trace.OpLock).installs("A", "A1").returns("A", held)
	s.keys[0].TTL = 25 * time.Second
	s.pass(25*time.Second).lapse(s.installed()).holds("B", "B1")
	found := oracle.Ask(&s.trace, oracle.Exclusion)
	require.Equal(t, "B is inside the lock while A still is: A asked for a lease of 30s, but its DO set 25s", found[0].Text)
}

func TestKeyOfADeadOwnerMayStayForOneLease(t *testing.T) {
	for after, found := range map[time.Duration][]oracle.Rule{
		30 * time.Second: nil,
		32 * time.Second: {oracle.Leak},
	} {
		s := newStory().holds("A", "A1")
		a := s.trace.Events[1].Effects[0].Owner
		s.add(trace.Event{Kind: trace.Crashed, Client: "A"}).pass(after).lapse(a)
		require.Equal(t, found, s.found(), after)
	}
}

func TestKeyOfAFailedAcquireMayStayForTheGrace(t *testing.T) {
	for after, found := range map[time.Duration][]oracle.Rule{
		time.Second:                    nil,
		time.Second + time.Millisecond: {oracle.Leak},
	} {
		s := newStory().call("A", trace.OpLock).installs("A", "A1").returns("A", unknown)
		s.pass(after).lapse(s.trace.Events[1].Effects[0].Owner)
		require.Equal(t, found, s.found(), after)
	}
}

func TestKeyOfAnAcquireThatArrivesLateMayStayForTheGrace(t *testing.T) {
	for after, leaked := range map[time.Duration]bool{time.Second: false, 2 * time.Second: true} {
		s := newStory().call("A", trace.OpLock).returns("A", unknown).pass(time.Second).installs("A", "A1")
		owner := s.trace.Events[2].Effects[0].Owner
		require.Equal(t, leaked, s.pass(after).lapse(owner).breaks(oracle.Leak), after)
	}
	s := newStory().holds("A", "A1").installs("A", "A2").pass(time.Minute)
	require.False(t, s.lapse(s.owner("A", "A2")).breaks(oracle.Leak), "the acquire has got the lock")
}

func TestKeyWithoutLeaseIsALeakAfterItsCallReturns(t *testing.T) {
	s := newStory().call("A", trace.OpLock)
	s.installs("A", "A1")
	s.keys[0].TTL = trace.NoTTL
	s.does("A").returns("A", held)
	require.Equal(t, []oracle.Rule{oracle.Leak}, s.found())
}

func TestClientMayRemoveItsOwnKey(t *testing.T) {
	s := newStory().holds("A", "A1")
	a := s.trace.Events[1].Effects[0].Owner
	s.call("A", trace.OpUnlock).does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: a}).returns("A", done)
	require.Empty(t, s.found())
}

func TestOldCallThatRemovesALaterHoldIsAWrongDelete(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpUnlock).returns("A", unknown)
	old := s.open["A"]
	first := s.trace.Events[1].Effects[0].Owner
	s.lapse(first).holds("A", "A2")
	second := s.trace.Events[len(s.trace.Events)-2].Effects[0].Owner
	s.open["A"] = old
	s.does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: second})
	require.Contains(t, s.found(), oracle.WrongDelete)
}

func TestBackgroundGoroutineActsForItsProcess(t *testing.T) {
	for _, c := range []struct {
		process         string
		unlocked, wrong bool
	}{
		{"A", true, false}, {"A", false, true}, {"B", true, true}, {"B", false, true},
	} {
		s, process := newStory().holds("A", "A1"), c.process
		a := s.trace.Events[1].Effects[0].Owner
		if c.unlocked {
			s.call("A", trace.OpUnlock).returns("A", unknown)
		}
		s.add(trace.Event{
			Kind: trace.Executed, Client: "X", Process: process, Background: true, Command: []string{"DEL"},
			Effects: []trace.Effect{{Kind: trace.Removed, Key: "k", Owner: a}},
		})
		require.Equal(t, c.wrong, oracle.Violates(oracle.Judge(&s.trace), oracle.WrongDelete), "%v", c)
	}
}

func TestWaitingForALiveHolderIsNoDeadlock(t *testing.T) {
	s := newStory().holds("A", "A1").call("B", trace.OpLock).pass(time.Minute).does("B")
	s.add(trace.Event{Kind: trace.Blocked, Client: "B", Call: s.open["B"], Op: trace.OpLock})
	require.Empty(t, s.found())
}

func TestWaitingForADeadHoldersLeaseIsNoDeadlock(t *testing.T) {
	for wait, found := range map[time.Duration][]oracle.Rule{
		30 * time.Second: nil,
		32 * time.Second: {oracle.Deadlock},
	} {
		s := newStory().holds("A", "A1").add(trace.Event{Kind: trace.Crashed, Client: "A"})
		s.call("B", trace.OpLock).pass(wait)
		s.add(trace.Event{Kind: trace.Blocked, Client: "B", Call: s.open["B"], Op: trace.OpLock})
		var deadlocks []oracle.Rule
		for _, m := range s.found() {
			if m == oracle.Deadlock {
				deadlocks = append(deadlocks, m)
			}
		}
		require.Equal(t, found, deadlocks, wait)
	}
}

func TestWaitingForItselfIsADeadlock(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpLock).pass(10 * time.Second)
	s.add(trace.Event{Kind: trace.Blocked, Client: "A", Call: s.open["A"], Op: trace.OpLock})
	require.Equal(t, []oracle.Rule{oracle.Deadlock}, s.found())
}

// Leases are short on a real server.
func TestShortWaitIsInMilliseconds(t *testing.T) {
	s := newStory().holds("A", "A1").call("A", trace.OpLock).pass(350 * time.Millisecond)
	s.trace.Lease = time.Second
	s.add(trace.Event{Kind: trace.Blocked, Client: "A", Call: s.open["A"], Op: trace.OpLock})
	require.Equal(t, "A waited 350ms in vain: only A itself holds the lock", oracle.Ask(&s.trace, oracle.Deadlock)[0].Text)
}

func TestAnswersThatDisagreeWithRedis(t *testing.T) {
	for name, s := range map[string]*story{
		"success without a key":                    newStory().call("A", trace.OpLock).does("A").returns("A", held),
		"refused while its own key is in Redis":    newStory().call("A", trace.OpTryLock).installs("A", "A1").returns("A", refused),
		"Unlock refused while its key is in Redis": newStory().holds("A", "A1").call("A", trace.OpUnlock).does("A").returns("A", refused),
		"Unlock returns nil without a hold":        newStory().call("A", trace.OpUnlock).does("A").returns("A", done),
		"refused without a key in Redis":           newStory().call("A", trace.OpTryLock).returns("A", refused),
		"both the lock and an error":               newStory().call("A", trace.OpTryLock).returns("A", trace.Result{Claim: trace.ClaimBoth, Error: "OOM"}),
		"neither the lock nor an error":            newStory().call("A", trace.OpLock).returns("A", nothing),
		"panic":                                    newStory().call("A", trace.OpLock).returns("A", trace.Result{Claim: trace.ClaimPanic, Error: "panic: no"}),
	} {
		t.Run(name, func(t *testing.T) { require.Contains(t, s.found(), oracle.Truth) })
	}
}

// Its error need not say that another client has the lock.
func TestAcquireThatIsHinderedMayFail(t *testing.T) {
	failed := trace.Result{Claim: trace.ClaimRefused, Error: "failed to acquire the lock"}
	bounded := newStory().call("A", trace.OpLock)
	bounded.trace.Events[0].Bound = time.Second
	oom := func() *story {
		s := newStory().call("A", trace.OpLock).does("A")
		s.trace.Events[1].Reply = "(error) OOM command not allowed"
		return s
	}
	for name, c := range map[string]struct {
		*story
		wrong bool
	}{
		"nothing hinders it":  {newStory().call("A", trace.OpLock).does("A"), true},
		"its context is over": {bounded.pass(time.Second), false},
		"Redis is full":       {oom(), false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.wrong, c.returns("A", failed).breaks(oracle.Truth)) })
	}
	require.True(t, oom().returns("A", refused).breaks(oracle.Truth), "it says that another client has the lock")
}

// A clean-up may be refused after it.
func TestHiddenRefusalIsThatOfTheFirstCommand(t *testing.T) {
	s := newStory().call("A", trace.OpLock)
	for _, command := range []string{"SET", "DEL"} {
		s.add(trace.Event{Kind: trace.Refused, Client: "A", Call: s.open["A"], Op: trace.OpLock, Command: []string{command}, Reply: "(error) NOPERM no rights"})
	}
	s.returns("A", trace.Result{Claim: trace.ClaimUnknown, Error: "timeout", Err: context.DeadlineExceeded})
	found := oracle.Ask(&s.trace, oracle.Truth)
	require.Len(t, found, 1)
	require.Equal(t, "Lock of A failed with timeout, which does not say that Redis refused its SET: NOPERM no rights", found[0].Text)
}

// nothing returns neither a hold nor an error.
var nothing = trace.Result{Claim: trace.ClaimRefused, Error: trace.ErrNothing.Error()}

// TryLock may refuse in this way, and so may Lock while another client has the lock.
func TestNilResultMayBeARefusal(t *testing.T) {
	require.False(t, newStory().holds("A", "A1").call("A", trace.OpTryLock).returns("A", nothing).breaks(oracle.Truth))
	taken := newStory().holds("B", "B1").call("A", trace.OpLock).returns("A", nothing)
	require.False(t, taken.breaks(oracle.Truth))
	require.True(t, taken.breaks(oracle.Waiting), "but Lock has to wait")
}

// Renewals arrived, and their answers came too late. The Unlock may free the key or leave it.
func TestLossMayBeReportedAgain(t *testing.T) {
	for _, told := range []bool{true, false} {
		for _, frees := range []bool{true, false} {
			s := newStory().holds("A", "A1")
			a := s.owner("A", "A1")
			if told {
				s.happens(trace.Lost, "A")
			}
			s.call("A", trace.OpUnlock)
			if frees {
				s.does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: a})
			}
			require.Equal(t, !told, s.returns("A", refused).breaks(oracle.Truth), "told: %v, frees: %v", told, frees)
			if frees {
				s.holds("A", "A2").frees("A", "A2").trace.Events[len(s.trace.Events)-1].Result = &refused
				require.True(t, s.breaks(oracle.Truth), "it has got the lock since")
			}
		}
	}
}

func TestClosedLockMayRefuse(t *testing.T) {
	closedError := trace.Result{Claim: trace.ClaimRefused, Error: "service is closed"}
	for _, closes := range []bool{true, false} {
		free, waits := newStory(), newStory().holds("B", "B1").call("A", trace.OpLock)
		waiting := waits.open["A"]
		if closes {
			free.call("A", trace.OpClose).returns("A", done)
			waits.call("A", trace.OpClose)
		}
		require.Equal(t, !closes, free.call("A", trace.OpTryLock).returns("A", closedError).breaks(oracle.Truth))
		waits.open["A"], waits.op["A"] = waiting, trace.OpLock
		require.Equal(t, !closes, waits.returns("A", closedError).breaks(oracle.Waiting))
	}
	s := newStory().call("A", trace.OpClose).returns("A", done).call("A", trace.OpTryLock).returns("A", refused)
	require.True(t, s.breaks(oracle.Truth), "no other client has it")
}

func TestNetworkErrorAgreesWithRedis(t *testing.T) {
	s := newStory().holds("A", "A1")
	a := s.trace.Events[1].Effects[0].Owner
	s.call("A", trace.OpUnlock).does("A", trace.Effect{Kind: trace.Removed, Key: "k", Owner: a}).returns("A", unknown)
	require.Empty(t, s.found())
}

func TestLossIsNoticedWhenUnlockReportsIt(t *testing.T) {
	for answer, noticed := range map[trace.Result]bool{done: false, refused: true} {
		s := newStory().holds("A", "A1")
		s.pass(30 * time.Second).lapse(s.trace.Events[1].Effects[0].Owner)
		s.call("A", trace.OpUnlock).does("A").returns("A", answer)
		require.Equal(t, noticed, !oracle.Violates(oracle.Judge(&s.trace), oracle.LossHidden))
	}
}

func TestNewestHolderIsNotRefusedByTheLedger(t *testing.T) {
	for client, refused := range map[string]bool{"A": false, "B": true} {
		s := newStory().holds("A", "A1").holds("B", "B1")
		s.add(trace.Event{Kind: trace.Stored, Client: client, Op: trace.OpInsert, Answer: &trace.Answer{Kind: trace.StaleToken, Token: 1, Newest: 1}})
		require.Equal(t, refused, s.breaks(oracle.Damage), client)
	}
}

func TestRefusalByAnotherGuardIsNoStaleToken(t *testing.T) {
	for _, kind := range []trace.AnswerKind{trace.NameTaken, trace.NoneLeft, trace.StaleVersion, trace.DoneBefore} {
		s := newStory().holds("A", "A1")
		s.add(trace.Event{Kind: trace.Stored, Client: "A", Op: trace.OpInsert, Answer: &trace.Answer{Kind: kind}})
		require.Empty(t, s.found(), kind)
	}
}

func TestCommitOfASecondOrderWithTheSameNameIsDamage(t *testing.T) {
	s := newStory()
	s.add(trace.Event{Kind: trace.Stored, Client: "A", Op: trace.OpInsert, Answer: &trace.Answer{Kind: trace.Pending}})
	require.Empty(t, s.found())
	rows := []trace.Order{{Name: "tea", Client: "B"}, {Name: "tea", Client: "A"}}
	s.add(trace.Event{Kind: trace.Stored, Client: "B", Op: trace.OpInsert, Answer: &trace.Answer{Kind: trace.Inserted}, Orders: rows[:1]})
	s.add(trace.Event{Kind: trace.Stored, Client: "A", Op: trace.OpCommit, Answer: &trace.Answer{Kind: trace.Committed}, Orders: rows})
	require.Equal(t, []oracle.Rule{oracle.Damage}, s.found())
}

func TestSecondOrderWithTheSameNameIsDamage(t *testing.T) {
	rows := []trace.Order{{Name: "tea", Client: "A"}, {Name: "milk", Client: "A"}, {Name: "tea", Client: "B"}}
	for n, found := range [][]oracle.Rule{nil, nil, {oracle.Damage}} {
		s := newStory()
		s.add(trace.Event{Kind: trace.Stored, Client: "B", Op: trace.OpInsert, Reply: "inserted", Orders: rows[:n+1]})
		require.Equal(t, found, s.found())
	}
}

func TestKeyIsALeakIfItsCallAsksAgain(t *testing.T) {
	asks := func() *story {
		s := newStory().call("A", trace.OpLock).installs("A", "A1").pass(100 * time.Millisecond)
		return s.sends(trace.Sent, "A", "DO").sends(trace.Delivered, "A", "DO")
	}
	later := func(s *story) *story { return s.pass(10 * time.Second).lapse(s.owner("A", "A1")) }
	require.True(t, later(asks()).breaks(oracle.Leak))
	require.False(t, later(asks().returns("A", held)).breaks(oracle.Leak), "it knows its own key")
	require.False(t, later(newStory().call("A", trace.OpLock).installs("A", "A1").sends(trace.Sent, "A", "OTHER")).breaks(oracle.Leak))
}

func TestReentryKeepsTheLease(t *testing.T) {
	for ttl, wrong := range map[time.Duration]bool{30 * time.Second: false, trace.NoTTL: true} {
		s := newStory().holds("A", "A1")
		first := s.owner("A", "A1")
		s.call("A", trace.OpLock)
		s.keys = []trace.Key{{Name: "k", Owner: first, TTL: ttl}}
		require.Equal(t, wrong, s.does("A").returns("A", held).breaks(oracle.Leak), ttl)
	}
	s := newStory().call("A", trace.OpLock).installs("A", "A1").call("G", trace.OpTryLock).in("A")
	s.keys[0].TTL = trace.NoTTL
	require.False(t, s.does("G").in("A").returns("G", refused).in("A").breaks(oracle.Leak), "A's lease is on its way")
}

//go:build live

package stage6_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/proxy"
	final "lockkata/stage6_reentrant_pubsub"
)

// eachLoss plays a test with each way in which a reply does not come, or not in
// time.
func eachLoss(t *testing.T, test func(t *testing.T, s *server, p way, f proxy.Fault)) {
	t.Parallel()
	for name, f := range map[string]proxy.Fault{
		"cut": proxy.CutReply, "dropped": proxy.DropReply, "late": proxy.DelayReply,
		"half open": proxy.HalfOpen, "cut before Redis has it": proxy.CutCommand,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			p := s.Proxy()
			p.Late(lease / 2) // longer than the lock waits for a reply
			test(t, s, p, f)
		})
	}
}

// Also the give-back is lost, once more.
func TestAcquireWhoseReplyIsLostIsGivenBackAlsoWhenThatsReplyIsLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, s *server, p way, f proxy.Fault) {
		p.Next("acquire", proxy.CutReply)
		p.Next("release", f)
		_, err := p.Mutex(final.WithWatchdogTimeout(5 * lease)).TryLock(t.Context())
		requireBreak(t, err)
		began := time.Now()
		requireFree(s)
		require.Less(t, time.Since(began), 4*lease, "it did not wait for the lease")
	})
}

// The second attempt of the unlock finds nothing, since the first has freed the
// lock: that is no ErrLost.
func TestHoldIsReenteredRenewedAndUnlockedWhicheverRepliesAreLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, s *server, p way, f proxy.Fault) {
		m := p.Mutex()
		outer := lock(t, m, t.Context())
		p.Next("count", f)
		inner := lock(t, m, outer.Context())
		require.Equal(t, []string{"2"}, s.HoldCounts())
		p.Next("renew", f, proxy.None, f)
		p.Await("renew", 4)
		requireSurvives(t, outer, lease/2)
		p.Next("count", f)
		require.NoError(t, inner.Unlock())
		require.Equal(t, []string{"1"}, s.HoldCounts())
		p.Next("release", f)
		require.NoError(t, outer.Unlock())
		require.NoError(t, lock(t, s.Mutex(), t.Context()).Unlock())
	})
}

func TestUnlockSaysSoWhenEveryReplyIsLost(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, p.Mutex(), t.Context())
	p.Next("release", slices.Repeat([]proxy.Fault{proxy.CutCommand}, 10_000)...) // for longer than Unlock goes on
	err := hold.Unlock()
	requireBreak(t, err)
	require.NotErrorIs(t, err, final.ErrLost, "nobody knows that")
	requireFree(s) // the lease frees it
}

// Redis keeps the lock alive, but the holder cannot know: it is told of the loss.
func TestHoldIsLostWhenNoRenewalIsAnswered(t *testing.T) {
	t.Parallel()
	p := start(t).Proxy()
	hold := lock(t, p.Mutex(final.WithWatchdogTimeout(short)), t.Context())
	p.Slow(endless)
	requireTold(t, hold)
}

// The re-entry fails for its caller; Redis had counted it.
func TestReentryThatFailedIsTakenOutOfTheCount(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	m := p.Mutex()
	outer := lock(t, m, t.Context())
	p.Next("count", slices.Repeat([]proxy.Fault{proxy.CutReply}, 10_000)...)
	brief, cancel := context.WithTimeout(outer.Context(), lease/30)
	defer cancel()
	_, err := m.Lock(brief)
	requireBreak(t, err)
	p.Next("count")
	eventually(t, func() bool { return s.HoldCounts()[0] == "1" }, "the count stays at 2")
	require.NoError(t, outer.Unlock())
	require.Empty(t, s.HoldCounts())
}

// Nothing tells a waiter that its subscription is half open, or was when it was asked
// for, so it misses the unlock. What it knows is when the lease ends that it saw: then
// it looks itself. Half open or not, one waiter's connection is no other's.
func TestWaiterWhoseSubscriptionIsHalfOpenLooksWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, s.Mutex(), t.Context())
	one, other, deaf := p.Mutex(), p.Mutex(), make(chan outcome, 2)
	go func() { deaf <- <-startLock(t, one) }()
	p.Await("acquire", 2) // the second one follows the subscription
	p.HalfOpen("SUBSCRIBE")
	p.Next("SUBSCRIBE", proxy.HalfOpen)
	go func() { deaf <- <-startLock(t, other) }()
	p.Await("SUBSCRIBE", 2)
	hearing := startLock(t, s.Mutex())
	s.AwaitWaiters(2)
	began := time.Now()
	require.NoError(t, hold.Unlock())
	require.NoError(t, requireHeld(t, hearing).Unlock())
	for range cap(deaf) { // whichever looks first
		require.NoError(t, requireHeld(t, deaf).Unlock())
	}
	require.Less(t, time.Since(began), 3*lease)
}

// A connection that breaks is another matter than one that is silent: go-redis
// subscribes again, however often, and the unlock may be published meanwhile.
func TestWaiterListensAgainHoweverOftenItsSubscriptionIsCut(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	m, next := s.Mutex(forever), p.Mutex(forever)
	p.Next("SUBSCRIBE", proxy.CutCommand, proxy.CutCommand)
	for range 10 {
		hold := lock(t, m, t.Context())
		waiting := startLock(t, next)
		s.AwaitWaiters(1)
		require.EqualValues(t, 1, s.kill("pubsub"))
		s.AwaitWaiters(1)
		require.Empty(t, waiting, "it should still wait")
		s.kill("pubsub")
		require.NoError(t, hold.Unlock())
		require.NoError(t, requireHeld(t, waiting).Unlock())
	}
	require.GreaterOrEqual(t, p.Count("SUBSCRIBE"), 3)
}

// Its connections are killed some hundred times while it is held.
func TestHoldSurvivesWhenTheConnectionsThatRenewItAreKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(), t.Context())
	for until := time.Now().Add(3 * lease / 2); time.Now().Before(until); {
		s.kill("normal")
		requireSurvives(t, hold, lease/100)
	}
	require.NoError(t, hold.Unlock())
}

package stage6_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/proxy"
	final "lockkata/stage6_reentrant_pubsub"
)

// lost are the ways in which a reply does not come, or not in time.
var lost = map[string]proxy.Fault{
	"cut": proxy.CutReply, "dropped": proxy.DropReply, "late": proxy.DelayReply,
	"half open": proxy.HalfOpen, "cut before Redis has it": proxy.CutCommand,
}

// eachLoss plays a test with each way to lose a reply.
func eachLoss(t *testing.T, test func(t *testing.T, s *server, p way, f proxy.Fault)) {
	t.Parallel()
	for name, f := range lost {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			p := s.Proxy()
			p.Late(lease / 2) // longer than the lock waits for a reply
			test(t, s, p, f)
		})
	}
}

// The lease is endless: what Redis may have granted can only be given back.
func TestAcquireWhoseReplyIsLostIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]proxy.Fault{"cut": proxy.CutReply, "cut before Redis has it": proxy.CutCommand} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			p := s.Proxy()
			m := p.Mutex(t, final.WithWatchdogTimeout(endless))
			p.Next("acquire", f)
			_, err := m.Lock(t.Context())
			require.True(t, isBreak(err), "%v", err)
			p.Await(t, "release", 1)
			requireHeld(t, startLock(t, s.Mutex()))
		})
	}
}

// Also the give-back is lost, more than once.
func TestGivingBackIsRepeatedWhenItsReplyIsLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, s *server, p way, f proxy.Fault) {
		m := p.Mutex(t, final.WithWatchdogTimeout(5*lease))
		p.Next("acquire", proxy.CutReply)
		p.Next("release", f)
		_, err := m.TryLock(t.Context())
		require.True(t, isBreak(err), "%v", err)
		began := time.Now()
		requireHeld(t, startLock(t, s.Mutex()))
		require.Less(t, time.Since(began), 4*lease, "it did not wait for the lease")
	})
}

// The second attempt finds nothing, since the first has freed the lock: that is no
// ErrLost.
func TestUnlockWhoseReplyIsLostSucceeds(t *testing.T) {
	eachLoss(t, func(t *testing.T, s *server, p way, f proxy.Fault) {
		hold := lock(t, p.Mutex(t), t.Context())
		p.Next("release", f)
		require.NoError(t, hold.Unlock())
		require.NoError(t, lock(t, s.Mutex(), t.Context()).Unlock())
	})
}

func TestUnlockSaysSoWhenEveryReplyIsLost(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, p.Mutex(t), t.Context())
	p.Next("release", proxy.CutCommand, proxy.CutCommand, proxy.CutCommand)
	err := hold.Unlock()
	require.True(t, isBreak(err), "%v", err)
	require.NotErrorIs(t, err, final.ErrLost, "nobody knows that")
	requireHeld(t, startLock(t, s.Mutex())) // the lease frees it
}

func TestHoldSurvivesRenewalsWhoseRepliesAreLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, s *server, p way, f proxy.Fault) {
		hold := lock(t, p.Mutex(t), t.Context())
		p.Next("renew", f, proxy.None, f)
		p.Await(t, "renew", 4)
		requireSurvives(t, hold, lease/2)
		require.NoError(t, hold.Unlock())
	})
}

// Redis keeps the lock alive, but the holder cannot know: it is told of the loss.
func TestHoldIsLostWhenNoRenewalIsAnswered(t *testing.T) {
	t.Parallel()
	p := start(t).Proxy()
	hold := lock(t, p.Mutex(t, final.WithWatchdogTimeout(short)), t.Context())
	forever := make([]proxy.Fault, 100)
	for i := range forever {
		forever[i] = proxy.DropReply
	}
	p.Next("renew", forever...)
	requireLost(t, hold)
}

func TestReentryWhoseReplyIsLostIsRepeatedAndCountsOnce(t *testing.T) {
	eachLoss(t, func(t *testing.T, s *server, p way, f proxy.Fault) {
		m := p.Mutex(t)
		outer := lock(t, m, t.Context())
		p.Next("count", f)
		inner := lock(t, m, outer.Context())
		require.Equal(t, []string{"2"}, s.HoldCounts())
		p.Next("count", f)
		require.NoError(t, inner.Unlock())
		require.Equal(t, []string{"1"}, s.HoldCounts())
		require.NoError(t, outer.Unlock())
		require.Empty(t, s.HoldCounts())
	})
}

// The re-entry fails for its caller; Redis had counted it.
func TestReentryThatFailedIsTakenOutOfTheCount(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	m := p.Mutex(t)
	outer := lock(t, m, t.Context())
	p.Next("count", proxy.CutReply, proxy.CutReply, proxy.CutReply)
	_, err := m.Lock(outer.Context())
	require.True(t, isBreak(err), "%v", err)
	p.Await(t, "count", 4)
	eventually(t, func() bool { return s.HoldCounts()[0] == "1" }, "the count stays at 2")
	require.NoError(t, outer.Unlock())
	require.Empty(t, s.HoldCounts())
}

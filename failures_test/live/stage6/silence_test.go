package stage6_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/proxy"
	final "lockkata/stage6_reentrant_pubsub"
)

// The connection that carries the renewals goes half open: the renewal has a
// deadline, and the next one goes another way.
func TestHoldSurvivesAHalfOpenConnection(t *testing.T) {
	t.Parallel()
	p := start(t).Proxy()
	hold := lock(t, p.Mutex(t), t.Context())
	for range 2 {
		before := p.Count("renew")
		p.Next("renew", proxy.HalfOpen)
		p.Await(t, "renew", before+2)
		requireSurvives(t, hold, lease/3)
	}
	require.NoError(t, hold.Unlock())
}

// Nothing tells a waiter that its subscription is half open, so it misses the
// unlock. What it knows is when the lease ends that it saw: then it looks itself.
func TestWaiterWhoseSubscriptionIsHalfOpenLooksWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, s.Mutex(), t.Context())
	waiting := startLock(t, p.Mutex(t))
	p.Await(t, "acquire", 2) // the second one follows the subscription
	p.HalfOpen("SUBSCRIBE")
	began := time.Now()
	require.NoError(t, hold.Unlock())
	requireHeld(t, waiting)
	waited := time.Since(began)
	require.Less(t, waited, 2*lease)
	t.Logf("it has the lock %v after the unlock; the lease is %v", waited.Round(time.Millisecond), lease)
}

// Half open or not, one waiter's connection is no other's.
func TestWaitersOfOtherProcessesHearWhatAHalfOpenOneMisses(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(endless)), t.Context())
	deaf := startLock(t, p.Mutex(t, final.WithWatchdogTimeout(endless)))
	p.Await(t, "acquire", 2)
	p.HalfOpen("SUBSCRIBE")
	hearing := startLock(t, s.Mutex(final.WithWatchdogTimeout(endless)))
	s.AwaitWaiters(2)
	require.NoError(t, hold.Unlock())
	require.NoError(t, requireHeld(t, hearing).Unlock())
	requireWaiting(t, deaf)
}

// The subscription itself is not acknowledged: the waiter waits without messages.
func TestWaiterThatCannotSubscribeGetsTheLockWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, s.Mutex(), t.Context())
	p.Next("SUBSCRIBE", proxy.HalfOpen)
	waiting := startLock(t, p.Mutex(t))
	p.Await(t, "SUBSCRIBE", 1)
	require.NoError(t, hold.Unlock())
	requireHeld(t, waiting)
}

// A connection that breaks is another matter than one that is silent: go-redis
// subscribes again.
func TestWaiterSubscribesAgainWhenItsSubscriptionIsCut(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.Proxy()
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(endless)), t.Context())
	p.Next("SUBSCRIBE", proxy.CutCommand, proxy.CutCommand)
	waiting := startLock(t, p.Mutex(t, final.WithWatchdogTimeout(endless)))
	s.AwaitWaiters(1)
	require.NoError(t, hold.Unlock())
	requireHeld(t, waiting)
	require.GreaterOrEqual(t, p.Count("SUBSCRIBE"), 3)
}

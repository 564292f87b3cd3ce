//go:build live

package topology

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The lock of most tests, and its keys in Redis.
const (
	lockName = "order:1001"
	key      = "lock:{order:1001}"
	tokenKey = "lock:{order:1001}:token"
	channel  = "lock__channel:{order:1001}"
)

const (
	long = time.Minute     // a lease that does not end in a test
	soon = 3 * time.Second // a waiter that gets the lock within that time was woken: no lease has ended
)

// party is a process that uses the lock: a service, and counters of its observer's calls.
type party struct {
	*stage6.Mutex // of lockName

	t   *testing.T
	svc *stage6.Service

	renewed, lost atomic.Int64 // locks
	unanswered    atomic.Int64 // failed renewals since the last success
}

// join starts a party. Its client ends with the test.
func join(t *testing.T, rdb redis.UniversalClient, lease time.Duration, opts ...stage6.Option) *party {
	p := &party{t: t}
	observer := stage6.Observer{
		Renewed: func(locks int, err error) {
			if err != nil {
				p.unanswered.Add(1)
				return
			}
			p.renewed.Add(int64(locks))
			p.unanswered.Store(0)
		},
		Lost: func(string) { p.lost.Add(1) },
	}
	var err error
	p.svc, err = stage6.NewService(rdb, append(opts, stage6.WithWatchdogTimeout(lease), stage6.WithObserver(observer))...)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.svc.Close() // a server may be down
		require.NoError(t, rdb.Close())
	})
	p.Mutex = p.mutex(lockName)
	return p
}

func (p *party) mutex(name string) *stage6.Mutex {
	m, err := p.svc.Mutex(name)
	require.NoError(p.t, err)
	return m
}

// take acquires a free lock.
func (p *party) take(name string) *stage6.Hold {
	p.t.Helper()
	hold, err := p.mutex(name).TryLock(p.t.Context())
	require.NoError(p.t, err, name)
	return hold
}

// takesAgain acquires the lock, or re-enters, once the server is back or replaced. The first
// attempts may fail because the connection to the old server has to break first.
func (p *party) takesAgain(ctx context.Context) (hold *stage6.Hold) {
	p.t.Helper()
	eventually(p.t, "a lock", func() (any, bool) {
		var err error
		hold, err = p.TryLock(ctx)
		return err, err == nil
	})
	return hold
}

// waitForRenewals waits until Redis has renewed that many more locks.
func (p *party) waitForRenewals(locks int64) {
	p.t.Helper()
	enough := p.renewed.Load() + locks
	eventually(p.t, "a renewal", func() (any, bool) {
		requireNothingLost(p)
		return p.renewed.Load(), p.renewed.Load() >= enough
	})
}

// requireNothingLost requires that these parties have lost no locks.
func requireNothingLost(parties ...*party) {
	for _, p := range parties {
		require.Zero(p.t, p.lost.Load(), "locks are lost, after %d renewals without an answer", p.unanswered.Load())
	}
}

// requireTold requires that the holder learns of the loss from a reply of Redis, not because its
// lease has run out.
func (p *party) requireTold(hold *stage6.Hold) {
	p.t.Helper()
	requireLost(p.t, hold)
	require.Zero(p.t, p.unanswered.Load())
}

// requireLost requires that the hold's context reports the loss.
func requireLost(t *testing.T, hold *stage6.Hold) {
	t.Helper()
	select {
	case <-hold.Context().Done():
		require.ErrorIs(t, context.Cause(hold.Context()), stage6.ErrLost)
	case <-time.After(within):
		require.Fail(t, "the loss is not noticed")
	}
}

// outcome is the result of a Lock or TryLock in the background.
type outcome struct {
	hold *stage6.Hold
	err  error
}

// inBackground calls lock in a new goroutine, which ends with the service.
func inBackground(lock func(context.Context, ...stage6.LockOption) (*stage6.Hold, error)) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		hold, err := lock(context.Background())
		done <- outcome{hold, err}
	}()
	return done
}

// served returns the hold that a waiter gets within bound.
func served(t *testing.T, bound time.Duration, done <-chan outcome) *stage6.Hold {
	t.Helper()
	o := ended(t, bound, done)
	require.NoError(t, o.err)
	return o.hold
}

func ended(t *testing.T, bound time.Duration, done <-chan outcome) outcome {
	t.Helper()
	select {
	case o := <-done:
		return o
	case <-time.After(bound):
		require.Fail(t, "the waiter still waits", "after %v", bound)
		return outcome{}
	}
}

// waitForWaiters waits until that many processes are subscribed to the lock's channel on this
// server.
func (n *Node) waitForWaiters(count int64) {
	n.t.Helper()
	eventually(n.t, "a subscription", func() (any, bool) {
		got := n.Rdb.PubSubNumSub(n.t.Context(), channel).Val()[channel]
		return got, got == count
	})
}

// waitForCount waits until a number in INFO is at least that high.
func (n *Node) waitForCount(prefix string, least int) {
	n.t.Helper()
	eventually(n.t, prefix, func() (any, bool) { return n.Count(prefix), n.Count(prefix) >= least })
}

//go:build live

package topology_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

const (
	lockName = "order:1001"
	key      = "lock:{order:1001}"
	tokenKey = "lock:{order:1001}:token"
	channel  = "lock__channel:{order:1001}"
)

// within is how long anything may take that is to happen; nothing is expected to
// need that much.
const within = 30 * time.Second

// long is a lease that does not end in a test: whoever gets the lock inside soon
// was woken.
const (
	long = time.Minute
	soon = long / 6
)

// party is a process that uses the lock: with a client and a service of its own,
// and a book of what happened to its holds.
type party struct {
	svc *stage6.Service

	mu      sync.Mutex
	renewed int     // locks, over all renewals
	ends    []error // of the renewals; nil: Redis answered
	lost    []string
}

// join starts a party.
func join(t *testing.T, rdb redis.UniversalClient, lease time.Duration, opts ...stage6.Option) *party {
	t.Helper()
	p := &party{}
	opts = append(opts, stage6.WithWatchdogTimeout(lease), stage6.WithObserver(stage6.Observer{
		Renewed: func(locks int, err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ends = append(p.ends, err)
			if err == nil {
				p.renewed += locks
			}
		},
		Lost: func(name string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lost = append(p.lost, name)
		},
	}))
	var err error
	p.svc, err = stage6.NewService(rdb, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.svc.Close() }) // a server may be away
	return p
}

func (p *party) mutex(t *testing.T, name string) *stage6.Mutex {
	t.Helper()
	m, err := p.svc.Mutex(name)
	require.NoError(t, err)
	return m
}

// lock takes a lock that is free.
func (p *party) lock(t *testing.T) *stage6.Hold {
	t.Helper()
	hold, err := p.mutex(t, lockName).TryLock(t.Context())
	require.NoError(t, err)
	return hold
}

// renewals is how many locks were renewed so far.
func (p *party) renewals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewed
}

// waitForRenewal waits until Redis has renewed that many locks more.
func (p *party) waitForRenewal(t *testing.T, locks int) {
	t.Helper()
	before := p.renewals()
	eventually(t, "a renewal", func() error {
		p.requireNothingLost(t)
		if p.renewals() < before+locks {
			return errors.New("not renewed")
		}
		return nil
	})
}

// waitForFailedRenewal waits until a renewal has got no answer.
func (p *party) waitForFailedRenewal(t *testing.T) {
	t.Helper()
	eventually(t, "a renewal that fails", func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !slices.ContainsFunc(p.ends, func(err error) bool { return err != nil }) {
			return errors.New("none failed")
		}
		return nil
	})
}

func (p *party) requireNothingLost(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(t, p.lost, "lost, after renewals that ended with %v", p.ends)
}

// requireToldByRedis asks that the hold was found to be lost because a renewal was
// answered so, and not because its lease ran out.
func (p *party) requireToldByRedis(t *testing.T, hold *stage6.Hold) {
	t.Helper()
	requireLost(t, hold)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotEmpty(t, p.ends)
	require.NoError(t, p.ends[len(p.ends)-1])
}

// requireLost asks that the hold is noticed as lost.
func requireLost(t *testing.T, hold *stage6.Hold) {
	t.Helper()
	select {
	case <-hold.Context().Done():
		require.ErrorIs(t, context.Cause(hold.Context()), stage6.ErrLost)
	case <-time.After(within):
		require.Fail(t, "the loss is not noticed")
	}
}

// outcome is what a Lock on a goroutine of its own came to.
type outcome struct {
	hold *stage6.Hold
	err  error
}

// wait waits for the lock on a goroutine of its own.
func (p *party) wait(t *testing.T) chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	m := p.mutex(t, lockName)
	go func() {
		hold, err := m.Lock(context.Background()) // ends with the service
		done <- outcome{hold, err}
	}()
	return done
}

// served is the hold that a Lock gets before long.
func served(t *testing.T, bound time.Duration, done chan outcome) *stage6.Hold {
	t.Helper()
	select {
	case o := <-done:
		require.NoError(t, o.err)
		return o.hold
	case <-time.After(bound):
		require.Fail(t, "the waiter does not get the lock", "in %v", bound)
		return nil
	}
}

// eventually asks again and again until there is no error.
func eventually(t *testing.T, what string, ask func() error) {
	t.Helper()
	end := time.Now().Add(within)
	for {
		err := ask()
		if err == nil {
			return
		}
		require.True(t, time.Now().Before(end), "%s does not happen: %v", what, err)
		time.Sleep(5 * time.Millisecond)
	}
}

package stage6_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	final "lockkata/stage6_reentrant_pubsub"
)

// kill breaks the connections of a type: normal or pubsub.
func (s *server) kill(kind string) int64 {
	s.t.Helper()
	n, err := s.admin.ClientKillByFilter(s.t.Context(), "TYPE", kind, "SKIPME", "yes").Result()
	require.NoError(s.t, err)
	return n
}

// The unlock may be published while nobody listens.
func TestWaiterWhoseSubscriptionIsKilledGetsTheLockPromptly(t *testing.T) {
	t.Parallel()
	s := start(t)
	m, next := s.Mutex(final.WithWatchdogTimeout(endless)), s.Mutex(final.WithWatchdogTimeout(endless))
	for range 10 {
		hold := lock(t, m, t.Context())
		waiting := startLock(t, next)
		s.AwaitWaiters(1)
		require.EqualValues(t, 1, s.kill("pubsub"))
		require.NoError(t, hold.Unlock())
		require.NoError(t, requireHeld(t, waiting).Unlock())
		s.AwaitWaiters(0)
	}
}

// Killed again and again for as long as it waits, it still listens afterwards.
func TestWaiterListensAgainHoweverOftenItsSubscriptionIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold := lock(t, s.Mutex(final.WithWatchdogTimeout(endless)), t.Context())
	waiting := startLock(t, s.Mutex(final.WithWatchdogTimeout(endless)))
	for range 5 {
		s.AwaitWaiters(1)
		s.kill("pubsub")
	}
	s.AwaitWaiters(1)
	requireWaiting(t, waiting)
	require.NoError(t, hold.Unlock())
	requireHeld(t, waiting)
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

// isBreak tells whether an error only says that a connection broke.
func isBreak(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

// Eight processes count under the lock while connections are killed at random
// moments. Nobody is inside beside another, nobody is left behind, and nothing is
// said but that connections broke.
func TestLockStaysExclusiveWhileConnectionsAreKilledAtRandom(t *testing.T) {
	t.Parallel()
	s := start(t)
	over, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var working sync.WaitGroup
	var inside sync.Mutex // what the lock should make needless
	var counted, highest int64
	for range 8 {
		m := s.Mutex()
		working.Go(func() {
			for over.Err() == nil {
				hold, err := m.Lock(t.Context())
				if err != nil {
					if !isBreak(err) {
						t.Errorf("lock: %v", err)
						return
					}
					continue
				}
				if !inside.TryLock() {
					t.Error("two are inside")
					return
				}
				counted++
				if hold.Token() <= highest {
					t.Errorf("token %d after %d", hold.Token(), highest)
				}
				highest = hold.Token()
				inside.Unlock()
				if err := hold.Unlock(); err != nil && !isBreak(err) {
					t.Errorf("unlock: %v", err)
				}
			}
		})
	}
	kinds := []string{"normal", "pubsub"}
	for over.Err() == nil {
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
		s.kill(kinds[rand.IntN(2)])
	}
	working.Wait()
	require.Greater(t, counted, int64(20))
	t.Logf("%d holds", counted)
}

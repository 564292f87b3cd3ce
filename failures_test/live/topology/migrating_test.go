//go:build live

package topology_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The slot moves while one holds and another waits: TRYAGAIN, ASK and MOVED must not
// end a hold, and no wake-up may get lost on the way.
func TestHoldAndWaiterSurviveASlotThatMoves(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, b := join(t, c.client(t), 9*time.Second), join(t, c.client(t), long)
	hold := a.lock(t)
	done := b.wait(t)
	c.owner(t, key).waitForSubscribers(t, 1)
	c.owner(t, key).waitForRefusals(t)

	m := c.begin(t, key)
	m.carry(t, key)
	a.waitForRenewal(t, 1) // ASK
	m.carry(t, tokenKey)
	m.end(t)
	a.waitForRenewal(t, 1) // MOVED
	require.Empty(t, m.from.keys(t))

	require.NoError(t, hold.Unlock())
	next := served(t, soon, done)
	require.Greater(t, next.Token(), hold.Token())
	require.NoError(t, next.Unlock())
	a.requireNothingLost(t)
	b.requireNothingLost(t)
}

// What a holder does has one key, and works wherever that key is.
func TestHolderGoesOnInASlotThatIsHalfMoved(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, stranger := join(t, c.client(t), long), join(t, c.client(t), long)
	hold := a.lock(t)
	m := c.begin(t, key)
	m.carry(t, key)
	require.Equal(t, []string{tokenKey}, m.from.keys(t))

	inner, err := a.mutex(t, lockName).Lock(hold.Context())
	require.NoError(t, err)
	count, err := a.mutex(t, lockName).HoldCount(hold.Context())
	require.NoError(t, err)
	require.Equal(t, 2, count)
	locked, err := stranger.mutex(t, lockName).IsLocked(t.Context())
	require.NoError(t, err)
	require.True(t, locked)
	left, err := stranger.mutex(t, lockName).RemainingTTL(t.Context())
	require.NoError(t, err)
	require.Positive(t, left)
	require.NoError(t, inner.Unlock())
	require.NoError(t, hold.Unlock(), "its key is on one node, the channel on none")
	require.Empty(t, m.to.keys(t))
}

func TestForceUnlockWorksInASlotThatIsHalfMoved(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, stranger := join(t, c.client(t), 9*time.Second), join(t, c.client(t), long)
	hold := a.lock(t)
	m := c.begin(t, key)
	m.carry(t, key)
	freed, err := stranger.mutex(t, lockName).ForceUnlock(t.Context())
	require.NoError(t, err)
	require.True(t, freed)
	a.requireToldByRedis(t, hold)
}

// An acquire needs lock and token on one node. It is refused while they are not, and
// leaves nothing behind on either.
func TestAcquireInASlotThatIsHalfMovedIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, stranger := join(t, c.client(t), long), join(t, c.client(t), long)
	earlier := a.lock(t)
	require.NoError(t, earlier.Unlock())
	m := c.begin(t, key)
	try := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := stranger.mutex(t, lockName).TryLock(ctx)
		require.ErrorContains(t, err, "TRYAGAIN")
		require.ErrorContains(t, err, "stage6: lock "+key)
	}
	try() // the lock, which does not exist, might be there, the token is here
	require.Equal(t, []string{tokenKey}, m.from.keys(t))
	require.Empty(t, m.to.keys(t))
	m.carry(t, tokenKey)
	try()
	require.Empty(t, m.from.keys(t))
	require.Equal(t, []string{tokenKey}, m.to.keys(t))
	m.end(t)
	hold := stranger.lock(t)
	require.Greater(t, hold.Token(), earlier.Token())
	require.NoError(t, hold.Unlock())
}

// The pause in which lock and token are apart is mostly shorter than what the lock
// waits for of its own.
func TestAcquireOutlastsAShortMove(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, b := join(t, c.client(t), long), join(t, c.client(t), long)
	earlier := a.lock(t)
	require.NoError(t, earlier.Unlock())
	m := c.begin(t, key)
	var hold *stage6.Hold
	done := make(chan error, 1)
	go func() {
		var err error
		hold, err = b.mutex(t, lockName).TryLock(context.Background())
		done <- err
	}()
	eventually(t, "a refusal", func() error { return m.from.refused(t, "TRYAGAIN") })
	m.carry(t, tokenKey)
	m.end(t)
	require.NoError(t, <-done)
	require.Greater(t, hold.Token(), earlier.Token())
}

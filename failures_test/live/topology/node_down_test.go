//go:build live

package topology_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// Nobody takes over from a node without a replica: until it is back its locks can
// neither be kept nor had.
func TestNodeThatDiesTakesItsLocksAlongUntilItIsBack(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second
	c := startCluster(t)
	a, b := join(t, c.client(t), lease), join(t, c.client(t), lease)
	hold := a.lock(t)
	owner := c.owner(t, key)
	owner.Kill()

	select {
	case o := <-b.wait(t):
		require.Error(t, o.err)
	case <-time.After(within):
		require.Fail(t, "a Lock without a deadline hangs")
	}
	requireLost(t, hold)
	require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)

	require.NoError(t, owner.Launch(t.Context()))
	c.waitUntilWhole(t)
	eventually(t, "a lock on the node that is back", func() error {
		next, err := b.mutex(t, lockName).TryLock(t.Context())
		if err != nil {
			return err
		}
		require.Greater(t, next.Token(), hold.Token(), "the node has forgotten the last token")
		return next.Unlock()
	})
}

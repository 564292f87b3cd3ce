//go:build live

package topology_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node that dies and comes back has forgotten its locks; who waits for one gets it.
func TestWaiterOutlivesARestartOfTheNodeThatItListensTo(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a, b := join(t, c.client(t), 12*time.Second), join(t, c.client(t), long)
	holdA := a.lock(t)
	done := b.wait(t)
	owner := c.owner(t, key)
	owner.waitForSubscribers(t, 1)
	owner.Kill()
	require.NoError(t, owner.Launch(t.Context()))
	holdB := served(t, within, done)
	require.Greater(t, holdB.Token(), holdA.Token())
	a.requireToldByRedis(t, holdA)
	require.NoError(t, holdB.Context().Err())
}

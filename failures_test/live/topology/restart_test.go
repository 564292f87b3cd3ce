package topology_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// A node that dies and comes back has forgotten its locks; who waits for one gets it.
func TestWaiterOutlivesARestartOfTheNodeThatItListensTo(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]stage6.Option{"ordinary": nil, "sharded": {stage6.WithShardedPubSub()}} {
		t.Run(name, func(t *testing.T) {
			c := startCluster(t)
			a, b := join(t, c.client(t), 12*time.Second, opts...), join(t, c.client(t), long, opts...)
			holdA := a.lock(t)
			done := b.wait(t)
			owner := c.owner(t, key)
			if opts == nil {
				owner.waitForSubscribers(t, 1)
			} else {
				owner.waitForShardSubscribers(t, 1)
			}
			owner.Kill()
			require.NoError(t, owner.Launch(t.Context()))
			holdB := served(t, within, done)
			require.Greater(t, holdB.Token(), holdA.Token())
			a.requireToldByRedis(t, holdA)
			require.NoError(t, holdB.Context().Err())
		})
	}
}

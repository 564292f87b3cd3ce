package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// No command reaches Redis any longer. The lease counts from when the last successful
// command was sent, a second before Redis ran it.
func TestHoldIsLostALeaseAfterItsLastCommandWasSent(t *testing.T) {
	for command, after := range map[string]time.Duration{"acquire": 0, "count": 5 * time.Second, "renew": 10 * time.Second} {
		t.Run(command, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				var lost []string
				m := r.Mutex(stage6.WithOnLost(func(l stage6.Loss) { lost = append(lost, l.Name) }))
				r.Delay(command, time.Second)
				began := time.Now()
				hold := lock(t, m, t.Context())
				time.Sleep(after - time.Since(began))
				if command == "count" {
					lock(t, m, hold.Context())
				}
				time.Sleep(2 * time.Second)
				r.Delay("renew", time.Hour)
				waitForEnd(t, hold)
				require.Equal(t, after+lease, time.Since(began))
				require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
				require.Equal(t, time.Second, r.TTL(key), "Redis counts from later")
				settle()
				require.Equal(t, []string{lockName}, lost)
				require.False(t, m.IsHeld(hold.Context()))
				require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
			})
		})
	}
}

func TestUnlockIsBoundedWhenRedisIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Delay("release", time.Hour)
		began := time.Now()
		require.Error(t, hold.Unlock())
		require.Equal(t, lease/2+100*time.Millisecond, since(began), "three attempts, each for a sixth of the lease, and two pauses")
	})
}

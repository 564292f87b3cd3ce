package stage6_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestContextCarriesTheValuesAndTheDeadlineOfItsParent(t *testing.T) {
	type traceID struct{}
	inBubble(t, func(t *testing.T, r *redisNode) {
		parent, cancel := context.WithTimeout(context.WithValue(t.Context(), traceID{}, "7"), time.Minute)
		defer cancel()
		hold := lock(t, r.Mutex(), parent)
		require.Equal(t, "7", hold.Context().Value(traceID{}))
		want, _ := parent.Deadline()
		deadline, ok := hold.Context().Deadline()
		require.True(t, ok)
		require.Equal(t, want, deadline)
	})
}

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

func TestLossEndsTheContextsOfAllHolds(t *testing.T) {
	for finder, find := range map[string]func(inner *stage6.Hold) error{
		"the next renewal": func(*stage6.Hold) error { time.Sleep(lease / 3); return stage6.ErrLost },
		"a partial unlock": (*stage6.Hold).Unlock,
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			m := r.Mutex()
			outer := lock(t, m, t.Context())
			inner, innermost := lock(t, m, outer.Context()), lock(t, m, outer.Context())
			r.Del(key)
			require.ErrorIs(t, find(innermost), stage6.ErrLost, finder)
			settle()
			for _, hold := range []*stage6.Hold{inner, outer} {
				require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()), finder)
				require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
				require.ErrorIs(t, hold.Unlock(), stage6.ErrNotHeld)
			}
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

func TestRefusedAcquireUsesUpNoToken(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		_, err := r.Mutex().TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		last, err := r.Get(tokenKey)
		require.NoError(t, err)
		require.Equal(t, last, fmt.Sprint(hold.Token()))
		require.Equal(t, time.Hour, r.TTL(tokenKey))
	})
}

// The process was paused for longer than the lease. IsHeld returns false even before
// the watchdog has run.
func TestIsHeldLooksAtTheClock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		hold := lock(t, m, t.Context(), stage6.Lease(time.Minute))
		held := make(chan bool, 1)
		time.AfterFunc(time.Minute, func() { held <- m.IsHeld(hold.Context()) })
		time.Sleep(time.Minute - 1)
		require.True(t, m.IsHeld(hold.Context()))
		time.Sleep(time.Second)
		require.False(t, <-held)
	})
}

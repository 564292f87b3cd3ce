package stage6_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// refusing is a client whose connections are refused while away is set. Each try takes 100 ms.
func refusing(r *fakeRedis, away *atomic.Bool) *redis.Client {
	return r.Client(func(o *redis.Options) {
		connect := o.Dialer
		o.DialerRetries, o.PoolSize = 1, 99
		o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			if away.Load() {
				time.Sleep(100 * time.Millisecond)
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
			}
			return connect(ctx, network, address)
		}
	})
}

// Redis cannot be reached. The failure of the first attempt is that of all who wait.
func TestFailureOfAnAttemptGoesToAllWhoWait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var away atomic.Bool
		away.Store(true)
		m := mutexOf(t, r.ServiceOn(refusing(r, &away)), lockName)
		began := time.Now()
		var waiting []chan outcome
		for range 10 {
			waiting = append(waiting, startLock(m, t.Context()))
		}
		for _, done := range waiting {
			o := <-done
			require.ErrorIs(t, o.err, syscall.ECONNREFUSED)
			require.NotErrorIs(t, o.err, stage6.ErrLocked)
			require.LessOrEqual(t, o.at.Sub(began), time.Second)
		}
		away.Store(false)
		require.NoError(t, lock(t, m, t.Context()).Unlock(), "the failure is forgotten")
	})
}

// A caller that comes during an attempt does not share its failure, and makes its own attempt.
func TestFailureOfAnAttemptIsNotThatOfALaterOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		var away atomic.Bool
		away.Store(true)
		m := mutexOf(t, r.ServiceOn(refusing(r, &away)), lockName)
		first := startLock(m, t.Context()) // its attempt is under way
		time.Sleep(50 * time.Millisecond)
		away.Store(false)
		second := startLock(m, t.Context())
		require.ErrorIs(t, (<-first).err, syscall.ECONNREFUSED)
		requireHeld(t, second)
	})
}

// The first caller's context ends while its attempt hangs. The caller behind it is not told of that.
func TestEndOfOneContextIsNotTheFailureOfAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Delay("acquire", 2*time.Second)
		first := startLock(m, ctx)
		second := startLock(m, t.Context())
		require.ErrorIs(t, (<-first).err, context.DeadlineExceeded)
		r.Delay("acquire", 0)
		o := <-second
		require.NoError(t, o.err)
		require.NoError(t, o.hold.Unlock())
	})
}

// Redis has not answered the first attempt, so it is not known whether the lock is held.
func TestTryLockForBehindAnAttemptWithoutAnAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		r.Delay("acquire", 2*time.Second)
		first := startLock(m, t.Context())
		began := time.Now()
		_, err := m.TryLockFor(t.Context(), 300*time.Millisecond)
		require.ErrorIs(t, err, stage6.ErrUnanswered)
		require.NotErrorIs(t, err, stage6.ErrLocked)
		require.Equal(t, 300*time.Millisecond, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err = m.Lock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotContains(t, err.Error(), "held")
		require.NoError(t, (<-first).err)

		_, err = m.TryLockFor(t.Context(), 300*time.Millisecond)
		require.ErrorIs(t, err, stage6.ErrLocked, "now Redis has said so")
	})
}

// The lease of one lock ends without a message, while 200 other names have idle waiters. These
// send nothing.
func TestExpiryOfOneLockDisturbsNoOtherName(t *testing.T) {
	sent := map[int]int{}
	for _, names := range []int{0, 200} {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			holder, svc := r.Service(), r.ServiceOn(r.Client(func(o *redis.Options) { o.PoolSize = 300 }))
			for i := range names {
				name := fmt.Sprint("order:", i)
				lock(t, mutexOf(t, holder, name), t.Context())
				startLock(mutexOf(t, svc, name), t.Context())
			}
			for range 3 {
				lock(t, mutexOf(t, holder, lockName), t.Context(), stage6.Lease(time.Second))
				waiting := startLock(mutexOf(t, svc, lockName), t.Context())
				time.Sleep(500 * time.Millisecond)
				r.Forget()
				time.Sleep(600 * time.Millisecond)
				hold := requireHeld(t, waiting)
				sent[names] += len(r.Sent())
				require.NoError(t, hold.Unlock())
			}
			require.NoError(t, svc.Close())
			synctest.Wait()
		})
	}
	require.Equal(t, sent[0], sent[200])
	require.LessOrEqual(t, sent[0], 3*3)
}

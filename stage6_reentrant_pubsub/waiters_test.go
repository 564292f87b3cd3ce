package stage6_test

import (
	"context"
	"math"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// The first waiter's connection is dead, and the client has no read timeout. The other
// waiters of its process wait behind it, though the lock is free.
func TestWaiterWhoseAttemptHangsAsksAgainAfterALease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		m := mutexOf(t, r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = -1 })), lockName)
		first, second := startLock(m, t.Context()), startLock(m, t.Context())
		time.Sleep(time.Second)
		r.Delay("acquire", 3*lease)
		require.NoError(t, hold.Unlock())
		requireWaiting(t, first)
		r.Delay("acquire", 0)
		time.Sleep(lease + lease/60)
		require.NoError(t, requireHeld(t, first).Unlock())
		require.NoError(t, requireHeld(t, second).Unlock())
		time.Sleep(3 * lease) // the clean-up of the stuck attempt has ended
		require.False(t, r.Exists(key))
	})
}

// The first waiter is woken, its attempt fails, and it leaves. The second must not
// sleep on while the lock is free.
func TestWaiterThatLeavesPassesTheWakeUpOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		m := r.Mutex()
		first, second := startLock(m, t.Context()), startLock(m, t.Context())
		r.Refuse("acquire", "OOM command not allowed when used memory > 'maxmemory'")
		require.NoError(t, hold.Unlock())
		settle()
		require.ErrorContains(t, (<-first).err, "OOM")
		requireHeld(t, second)
	})
}

// leaving is a context that ends when it is looked at for the nth time.
type leaving struct {
	context.Context
	cancel context.CancelFunc
	looks  atomic.Int64
	n      int64
}

func (l *leaving) look() {
	if l.looks.Add(1) == l.n {
		l.cancel()
	}
}

func (l *leaving) Done() <-chan struct{} { l.look(); return l.Context.Done() }
func (l *leaving) Err() error            { l.look(); return l.Context.Err() }

// The first waiter leaves at each of its steps in turn. One of the two waiters gets the lock.
func TestWaiterThatLeavesAtAnyStepPassesTheWakeUpOn(t *testing.T) {
	for n, got := int64(1), false; !got; n++ {
		require.Less(t, n, int64(100))
		inBubble(t, func(t *testing.T, r *redisNode) {
			hold := lock(t, r.Mutex(), t.Context())
			m := r.Mutex()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := startLock(m, &leaving{Context: ctx, cancel: cancel, n: n})
			second := startLock(m, t.Context())
			require.NoError(t, hold.Unlock())
			settle()
			require.Len(t, first, 1, n)
			if o := <-first; o.err == nil {
				got = ctx.Err() == nil // it has looked less often
				require.NoError(t, o.hold.Unlock())
			}
			requireHeld(t, second)
		})
	}
}

func TestWaitersOfAProcessShareASubscription(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		m := r.Mutex()
		var waiting []chan outcome
		for range 3 {
			waiting = append(waiting, startLock(m, t.Context()))
		}
		require.Equal(t, 3, r.Count("acquire"), "the holder's, and the first waiter's before and after its subscription")
		for _, next := range waiting {
			require.Equal(t, map[string]int{channel: 1}, r.PubSubNumSub(channel), "while there is a waiter")
			require.NoError(t, hold.Unlock())
			hold = requireHeld(t, next)
			require.Equal(t, 1, r.Count("SUBSCRIBE"))
		}
	})
}

// The subscription lasts for some seconds after the last waiter: two processes that take
// turns do not subscribe for each turn.
func TestSubscriptionIsKeptForAWhileAndEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		one, other := r.Mutex(), r.Mutex()
		hold := lock(t, one, t.Context())
		for range 20 {
			waiting := startLock(other, t.Context())
			time.Sleep(time.Second)
			require.NoError(t, hold.Unlock())
			hold = requireHeld(t, waiting)
			one, other = other, one
			time.Sleep(time.Second)
		}
		require.Equal(t, 2, r.Count("SUBSCRIBE"))
		connections := r.CurrentConnectionCount()
		time.Sleep(lease)
		settle()
		require.Equal(t, map[string]int{channel: 0}, r.PubSubNumSub(channel))
		require.Equal(t, connections-2, r.CurrentConnectionCount())
	})
}

// One of two locks has no waiters any longer. Its channel is unsubscribed, which does not
// disturb the waiter of the other.
func TestEndOfASubscriptionDoesNotDisturbOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		holder, svc := r.Service(), r.Service()
		first, second := lock(t, mutexOf(t, holder, "order:1"), t.Context()), lock(t, mutexOf(t, holder, "order:2"), t.Context())
		served, waiting := startLock(mutexOf(t, svc, "order:1"), t.Context()), startLock(mutexOf(t, svc, "order:2"), t.Context())
		require.NoError(t, first.Unlock())
		require.NoError(t, requireHeld(t, served).Unlock())
		time.Sleep(2 * lease)
		settle()
		require.Equal(t, []string{"lock__channel:{order:2}"}, r.PubSubChannels("*"))
		require.Equal(t, 2, r.Count("SUBSCRIBE"))
		require.NoError(t, second.Unlock())
		requireHeld(t, waiting)
	})
}

// The connection for the subscription cannot be made, and finding that out takes long. The
// queue subscribes once at a time.
func TestStuckSubscribeIsNotRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var away atomic.Bool
		dials := 0
		rdb := r.Client(func(o *redis.Options) {
			connect := o.Dialer
			o.DialTimeout, o.DialerRetries = time.Hour, 1
			o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
				if away.Load() {
					dials++
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return connect(ctx, network, address)
			}
		})
		hold := lock(t, r.Mutex(), t.Context())
		m := mutexOf(t, r.ServiceOn(rdb), lockName)
		_, err := m.TryLock(t.Context())
		require.ErrorIs(t, err, stage6.ErrLocked)
		away.Store(true)
		waiting := startLock(m, t.Context())
		time.Sleep(10*lease + time.Second) // not at the instant of a try
		require.Equal(t, 1, dials)
		require.NoError(t, hold.Unlock())
		time.Sleep(lease / 6)
		requireHeld(t, waiting) // it tries every sixth of a lease
	})
}

func TestRefusedChannelDoesNotDisturbOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		holder, svc := r.Service(), r.Service()
		first, second := lock(t, mutexOf(t, holder, "order:1"), t.Context()), lock(t, mutexOf(t, holder, "order:2"), t.Context())
		lock(t, mutexOf(t, holder, "order:3"), t.Context())
		heard := startLock(mutexOf(t, svc, "order:1"), t.Context())
		time.Sleep(time.Second)
		r.Refuse("SUBSCRIBE", "")
		startLock(mutexOf(t, svc, "order:3"), t.Context())
		time.Sleep(time.Second)
		r.Forget()
		r.Refuse("SUBSCRIBE", slices.Repeat([]string{"NOPERM no permissions to access one of the channels"}, 99)...)
		deaf := startLock(mutexOf(t, svc, "order:2"), t.Context())
		time.Sleep(lease/3 + time.Second)
		require.Equal(t, 2, r.Count("look"), "the refused one is looked at every sixth of a lease")
		require.NoError(t, first.Unlock())
		time.Sleep(100 * time.Millisecond) // it may have been refused just now
		requireHeld(t, heard)
		require.NoError(t, second.Unlock())
		time.Sleep(2 * lease)
		requireHeld(t, deaf)
	})
}

// The error shows whether another client held the lock, or Redis did not answer.
func TestErrorOfAWaitSaysWhetherRedisRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		for _, silent := range []bool{false, true} {
			if silent {
				time.AfterFunc(time.Second, func() {
					r.Refuse("acquire", slices.Repeat([]string{""}, 999)...)
					r.Publish(channel, "0")
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := r.Mutex().Lock(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			if silent {
				require.ErrorContains(t, err, "the last attempt: stage6: lock "+key, "how it failed")
				require.NotContains(t, err.Error(), "held by somebody else")
			} else {
				require.ErrorContains(t, err, "held by somebody else")
			}
		}
		r.Refuse("acquire")
		time.AfterFunc(time.Second, func() {
			r.Refuse("acquire", slices.Repeat([]string{""}, 999)...)
			r.Publish(channel, "0")
		})
		_, err := r.Mutex().TryLockFor(t.Context(), 5*time.Second)
		require.Error(t, err)
		require.NotErrorIs(t, err, stage6.ErrLocked, "it is not known")
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller's context has not ended")
		r.Refuse("acquire")
		require.NoError(t, hold.Unlock())
	})
}

// The connection breaks as Redis restarts. The subscription that go-redis makes anew is
// refused, or breaks its connection too. The waiter must not count as subscribed.
func TestSubscriptionThatFailsAfterAReconnectIsAskedForAgain(t *testing.T) {
	for _, test := range []struct{ always, breaks bool }{{false, false}, {true, false}, {true, true}} {
		run := asLocker.Play(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			waiting := b.StartLock()
			w.Sleep(time.Second)
			refused := b.Before(world.Named("SUBSCRIBE"))
			if test.always {
				refused = refused.Always()
			}
			if test.breaks {
				refused.Drop()
			} else {
				refused.Fail(loading)
			}
			b.BreakSubscriptions()
			w.Sleep(time.Second)
			a.Unlock()
			waiting.Wait()
		})
		late := run.Returned(t, "B", trace.OpLock).At - run.Returned(t, "A", trace.OpUnlock).At
		require.Equal(t, test.always, late > 0)
		require.LessOrEqual(t, late, lease/6)
	}
}

// After any answer a waiter tries once a lease at most. Finds arithmetic that
// overflows into the past.
func TestWaiterDoesNotPollBehindAnEndlessLease(t *testing.T) {
	for _, test := range []struct {
		answer string
		lease  time.Duration
	}{
		{":-9223372036856\r\n", lease}, // the longest possible lease
		{":-9000000000000000002\r\n", lease},
		{":-9223372036854775807\r\n", lease},
		{":-9223372036854775808\r\n", lease},
		{":-1\r\n", math.MaxInt64}, // no lease, and the waiter's own is endless
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			r.HSet(key, "somebody:1", "1")
			r.Answer("acquire", test.answer)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.Mutex(stage6.WithWatchdogTimeout(test.lease)).Lock(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Less(t, r.Count("acquire"), 10)
		})
	}
}

// The winner's lease is not that of the service, and its key is deleted without a message. A waiter behind
// it in the same process tries again after the shorter one.
func TestWaiterBehindAFixedLeaseLooksAgainAfterTheShorterOne(t *testing.T) {
	for _, fixed := range []time.Duration{time.Hour, 3 * time.Second} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			blocker := lock(t, r.Mutex(), t.Context())
			m := r.Mutex()
			won := make(chan error, 1)
			go func() { _, err := m.Lock(t.Context(), stage6.Lease(fixed)); won <- err }()
			settle()
			behind := startLock(m, t.Context())
			require.NoError(t, blocker.Unlock())
			require.NoError(t, <-won)
			r.Del(key)
			time.Sleep(min(lease, fixed) + time.Millisecond)
			requireHeld(t, behind)
		})
	}
}

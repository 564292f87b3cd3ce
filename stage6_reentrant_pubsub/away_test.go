package stage6_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// tap is a connection that can be made silent once it has subscribed: nothing arrives, and it stays open.
type tap struct {
	net.Conn
	silent     *atomic.Bool
	subscribed atomic.Bool
}

func (c *tap) Write(raw []byte) (int, error) {
	if bytes.Contains(raw, []byte("\r\nsubscribe\r\n")) {
		c.subscribed.Store(true)
	}
	return c.Conn.Write(raw)
}

func (c *tap) Read(raw []byte) (int, error) {
	for {
		n, err := c.Conn.Read(raw)
		if err != nil || !c.subscribed.Load() || !c.silent.Load() {
			return n, err
		}
	}
}

// The waiter's connection for messages stays open and is silent. A look finds the lock free, and the
// service opens another connection.
func TestConnectionWithoutMessagesIsMadeAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var silent []*atomic.Bool
		m := mutexOf(t, r.ServiceOn(r.Client(func(o *redis.Options) {
			connect := o.Dialer
			o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := connect(ctx, network, address)
				silent = append(silent, &atomic.Bool{})
				return &tap{Conn: conn, silent: silent[len(silent)-1]}, err
			}
		})), lockName)
		hold := lock(t, r.Mutex(), t.Context())
		waiting := startLock(m, t.Context())
		time.Sleep(time.Second)
		for _, conn := range silent {
			conn.Store(true)
		}
		require.NoError(t, hold.Unlock())
		time.Sleep(lease / 3)
		mine := requireHeld(t, waiting)
		require.NoError(t, mine.Unlock())
		time.Sleep(time.Second)
		hold = lock(t, r.Mutex(), t.Context())
		waiting = startLock(m, t.Context())
		require.NoError(t, hold.Unlock())
		requireHeld(t, waiting)
	})
}

// The first warning says that Redis is away, and one for each lease that it still is.
func TestWaiterWarnsOnceALeaseWhileRedisIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var away atomic.Bool
		var log strings.Builder
		lock(t, r.Mutex(), t.Context())
		startLock(mutexOf(t, r.ServiceOn(refusing(r, &away, 0), stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))), lockName), t.Context())
		away.Store(true)
		r.world.Do(r.server.Restart) // it breaks the connections
		time.Sleep(10*lease + time.Second)
		settle()
		warnings := strings.Count(log.String(), "waiting without messages")
		require.Positive(t, warnings)
		require.LessOrEqual(t, warnings, 1+10)
	})
}

// refusing returns a client whose connections are refused while away is set.
func refusing(r *redisNode, away *atomic.Bool, after time.Duration) *redis.Client {
	return r.Client(func(o *redis.Options) {
		connect := o.Dialer
		o.DialerRetries, o.PoolSize = 1, 9999 // with as many errors go-redis dials in the background
		o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			if away.Load() {
				time.Sleep(after)
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
			}
			return connect(ctx, network, address)
		}
	})
}

// The second attempt fails for all callers that had come when it began.
func TestFailedAttemptFailsTheCallersBehindIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var away atomic.Bool
		away.Store(true)
		m, began := mutexOf(t, r.ServiceOn(refusing(r, &away, 100*time.Millisecond)), lockName), time.Now()
		for _, waiting := range []chan outcome{startLock(m, t.Context()), startLock(m, t.Context()), startLock(m, t.Context())} {
			require.ErrorIs(t, (<-waiting).err, syscall.ECONNREFUSED)
		}
		require.Equal(t, 200*time.Millisecond, time.Since(began))
	})
}

// A caller that comes during an attempt makes its own attempt when the first one fails.
func TestFailedAttemptDoesNotFailALaterCaller(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var away atomic.Bool
		away.Store(true)
		m := mutexOf(t, r.ServiceOn(refusing(r, &away, 100*time.Millisecond)), lockName)
		first := startLock(m, t.Context()) // the attempt is under way
		time.Sleep(50 * time.Millisecond)
		away.Store(false)
		second := startLock(m, t.Context())
		require.ErrorIs(t, (<-first).err, syscall.ECONNREFUSED)
		requireHeld(t, second)
	})
}

// Redis has not answered the first attempt, so it is not known whether the lock is held.
func TestTryLockForBehindAnAttemptWithoutAnAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
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
		require.ErrorIs(t, err, stage6.ErrLocked, "now Redis has answered")
	})
}

// Redis has said that the lock is held, and is away then. A caller who waits behind another one does not know that it
// is still held.
func TestCallerBehindAnotherOneDoesNotSayHeldWhileRedisIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var away atomic.Bool
		hold := lock(t, r.Mutex(), t.Context())
		m := mutexOf(t, r.ServiceOn(refusing(r, &away, 100*time.Millisecond)), lockName)
		first := startLock(m, t.Context())
		time.Sleep(time.Second)
		_, err := m.TryLockFor(t.Context(), time.Second)
		require.ErrorIs(t, err, stage6.ErrLocked)
		away.Store(true)
		r.Refuse("acquire", slices.Repeat([]string{""}, 99)...)
		time.Sleep(lease)
		_, err = m.TryLockFor(t.Context(), time.Second)
		require.ErrorIs(t, err, stage6.ErrUnanswered)
		away.Store(false)
		r.Refuse("acquire")
		require.NoError(t, hold.Unlock())
		time.Sleep(lease)
		requireHeld(t, first)
	})
}

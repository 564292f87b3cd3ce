package stage6_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step2_unknown"
)

var lock = locktest.Lock{
	Subject: step.Subject("6.2", "step2_unknown", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog),
	Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Resends: true,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.2")) }

// The fix: the reply to A's acquire is lost, and the lock that it took is freed.
func TestAcquireOfUnknownOutcomeIsCleanedUp(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.Lock()
		b.TryLock()
	})
	require.NotEmpty(t, run.Returned(t, "A", trace.OpLock).Result.Error)
	require.True(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
}

// The command itself is late: the first clean-up finds nothing yet.
func TestCleanUpTriesUntilTheLateCommandHasArrived(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Delay(2 * time.Second)
		a.Lock(world.Within(time.Second))
		w.Sleep(time.Hour)
	})
	require.Equal(t, []string{
		"1s EVALSHA unlock 1 lock:order:1001 A?",
		"1.5s EVALSHA unlock 1 lock:order:1001 A?",
		"2s SET lock:order:1001 A1 NX PX 30000",
		"2.5s EVALSHA unlock 1 lock:order:1001 A1",
	}, run.Timed("A"))
}

// A clean-up would still run at the end of the test: it lasts for a lease.
func TestAttemptThatWasNeverSentIsNotCleanedUp(t *testing.T) {
	server := miniredis.RunT(t)
	for name, options := range map[string]redis.Options{
		"the context ends in the queue for a connection": {Addr: server.Addr(), PoolSize: 1},
		"the client waits no longer in that queue":       {Addr: server.Addr(), PoolSize: 1, PoolTimeout: time.Millisecond},
		"no server listens":                              {Addr: "127.0.0.1:1", DialerRetries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			rdb := redis.NewClient(&options)
			defer rdb.Close()
			conn := rdb.Conn()
			defer conn.Close()
			_ = conn.Ping(t.Context()).Err() // it has the only connection
			before := goleak.IgnoreCurrent()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			mutex, err := stage6.NewMutex(rdb, "order:1001", time.Minute)
			require.NoError(t, err)
			_, err = mutex.TryLock(ctx)
			require.Error(t, err)
			goleak.VerifyNone(t, before)
		})
	}
}

// A's process is paused before its acquire is sent. The answer comes after the lease, and the command
// that frees the key is lost.
func TestGrantThatCameTooLateIsFreedAtLast(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Before(world.Named("SET")).Freeze()
		a.Before(world.Named("EVALSHA")).Drop()
		try := a.StartTryLock()
		w.Sleep(31 * time.Second)
		a.Thaw()
		if try.Wait().Held() {
			a.Unlock()
		}
		b.Lock(world.Within(time.Second))
	})
	require.True(t, run.Returned(t, "B", trace.OpLock).Result.Held)
}

// The key is gone, and the first unlock finds no connection: it has deleted nothing.
func TestUnlockThatWasNotSentHasAKnownOutcome(t *testing.T) {
	server, limit := miniredis.RunT(t), &limiter{}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), Limiter: limit})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "order:1001", time.Minute)
	require.NoError(t, err)
	hold, err := mutex.Lock(t.Context())
	require.NoError(t, err)
	server.Del("lock:order:1001")
	limit.refuses = redis.ErrPoolTimeout
	require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
}

// limiter refuses one command of a client.
type limiter struct{ refuses error }

func (l *limiter) Allow() (err error) {
	err, l.refuses = l.refuses, nil
	return err
}

func (*limiter) ReportResult(error) {}

func TestUnlockIsBounded(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Cut()
		a.Unlock()
		a.Heal()
		a.Unlock()
	})
	require.Equal(t, 15*time.Second, run.Returned(t, "A", trace.OpUnlock).At)
	require.Empty(t, run.Returned(t, "A", trace.OpUnlock).Result.Error, "the second time")
}

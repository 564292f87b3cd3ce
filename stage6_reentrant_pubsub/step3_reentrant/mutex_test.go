package stage6_test

import (
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
	stage6 "lockkata/stage6_reentrant_pubsub/step3_reentrant"
)

var lock = locktest.Lock{
	Subject: step.Subject("6.3", "step3_reentrant", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry),
	Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Resends: true,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.3")) }

// The fix: A's helper takes the lock that A holds, and the last Unlock frees it.
func TestHolderReenters(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Lock()
		a.Unlock()
		b.TryLock()
		a.Unlock()
		b.TryLock()
	})
	require.Equal(t, []string{
		"EVALSHA acquire 1 lock:order:1001 A1 30000",
		"EVALSHA count 1 lock:order:1001 A1 2",
		"EVALSHA count 1 lock:order:1001 A1 1",
		"EVALSHA count 1 lock:order:1001 A1 0",
	}, run.Commands("A"))
	require.True(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
}

// Two helpers of A take the lock again. The command of the first one is stuck, and the second one has less time.
func TestReentryWaitsForItsTurnUntilItsContextEnds(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Before(world.Named("EVALSHA")).Delay(time.Minute)
		a.StartLock()
		w.Sleep(time.Second)
		a.Lock(world.Within(100 * time.Millisecond))
	})
	lock := run.Returned(t, "A", trace.OpLock)
	require.Equal(t, 1100*time.Millisecond, lock.At)
	require.Equal(t, "stage6: lock lock:order:1001: context deadline exceeded", lock.Result.Error)
}

func TestCleanUpEndsWhenItHasFreedTheKey(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Drop()
		a.Lock()
		w.Sleep(time.Hour)
	})
	require.Len(t, run.Commands("A"), 2, "acquire, and count 0")
}

// A loses another lock, whose context was used to take this one. This lock is not lost.
func TestLossOfOneLockDoesNotLoseAnother(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	outer, err := stage6.NewMutex(rdb, "outer", 60*time.Millisecond)
	require.NoError(t, err)
	inner, err := stage6.NewMutex(rdb, "inner", time.Minute)
	require.NoError(t, err)
	first, err := outer.Lock(t.Context())
	require.NoError(t, err)
	second, err := inner.Lock(first.Context())
	require.NoError(t, err)
	server.Del("lock:outer")
	<-second.Context().Done()
	require.NoError(t, second.Unlock())
	require.False(t, server.Exists("lock:inner"))
	require.ErrorIs(t, first.Unlock(), stage6.ErrLost)
}

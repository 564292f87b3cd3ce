package stage5_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
	stage5 "lockkata/stage5_watchdog"
)

var subject = failures.Subject{
	Name: "stage5",
	New:  adapters.Plain(adapters.With(stage5.NewMutex)),
	Has:  []failures.Feature{failures.Scripts, failures.Watchdog},
	Variants: map[failures.Variant]world.Constructor{
		failures.FixedLease: adapters.Plain(adapters.With(stage5.NewMutex, stage5.WithoutWatchdog())),
	},
}

var lock = locktest.Lock{Subject: subject, NotHeld: stage5.ErrNotHeld}

func TestMain(m *testing.M) { goleak.VerifyTestMain(locktest.Summarize(m, lock)) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, subject, failures.Expected("5")) }

func TestLockAndUnlockSendTheseCommands(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{
		"SET lock:order:1001 A1 NX PX 30000",
		"EVALSHA unlock 1 lock:order:1001 A1",
	}, run.Commands("A"))
}

// The fix: A works for an hour, and B does not get the lock.
func TestHolderKeepsTheLockForAnHour(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(time.Hour)
		b.TryLock()
		a.Unlock()
	})
	require.False(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
	require.Empty(t, run.Returned(t, "A", trace.OpUnlock).Result.Error)
	require.Len(t, run.Commands("A"), 1+360+1, "a renewal every ten seconds")
}

// The bug: Redis loses the key. A works on for an hour, and only its Unlock reports the loss.
func TestHolderIsNotToldOfALoss(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Evict()
		w.Sleep(time.Hour)
		a.Unlock()
	})
	for _, e := range run.Events {
		require.NotEqual(t, trace.Lost, e.Kind)
	}
	require.Len(t, run.Commands("A"), 3, "after the first renewal the watchdog knows, and ends")
	require.Equal(t, stage5.ErrNotHeld.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
}

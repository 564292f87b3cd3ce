package stage5_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	stage5 "lockkata/stage5_watchdog"
)

func TestWatchdogRenewsEveryThirdOfTheLease(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(40 * time.Second)
	})
	require.Equal(t, []string{
		"0s SET lock:order:1001 A1 NX PX 30000",
		"10s EVALSHA renew 1 lock:order:1001 A1 30000",
		"20s EVALSHA renew 1 lock:order:1001 A1 30000",
		"30s EVALSHA renew 1 lock:order:1001 A1 30000",
		"40s EVALSHA renew 1 lock:order:1001 A1 30000",
	}, run.Timed("A"))
	for _, e := range run.Executed("A") {
		require.Equal(t, 30*time.Second, e.Keys[0].TTL, "%s gives the whole lease", e.Line())
	}
}

func TestUnlockDoesNotWaitForARenewalLongerThanAThirdOfTheLease(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Background).Delay(time.Hour)
		w.Sleep(11 * time.Second)
		a.Unlock()
	})
	unlock := run.Returned(t, "A", trace.OpUnlock)
	require.Empty(t, unlock.Result.Error)
	require.LessOrEqual(t, unlock.At, 20*time.Second)
}

func TestWithoutWatchdogTheLeaseEnds(t *testing.T) {
	unrenewed := lock
	unrenewed.New = lock.Variants[failures.FixedLease]
	run := unrenewed.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(30*time.Second + 50*time.Millisecond)
		b.TryLock()
		a.Unlock()
	})
	require.Equal(t, []string{"SET lock:order:1001 A1 NX PX 30000", "EVALSHA unlock 1 lock:order:1001 A1"}, run.Commands("A"))
	require.True(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
	require.Equal(t, stage5.ErrNotHeld.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
}

// A loses the lock and takes it again without Unlock. Only the new hold is
// renewed, counted from its own start.
func TestTryLockAfterALossStartsOneWatchdogAnew(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(3 * time.Second)
		w.Evict() // and the first watchdog would notice at 10 s
		a.TryLock()
		w.Sleep(30 * time.Second)
		a.Unlock()
		w.Sleep(time.Minute)
	})
	require.Equal(t, []string{
		"0s SET lock:order:1001 A1 NX PX 30000",
		"3s SET lock:order:1001 A2 NX PX 30000",
		"13s EVALSHA renew 1 lock:order:1001 A2 30000",
		"23s EVALSHA renew 1 lock:order:1001 A2 30000",
		"33s EVALSHA renew 1 lock:order:1001 A2 30000",
		"33s EVALSHA unlock 1 lock:order:1001 A2",
	}, run.Timed("A"))
}

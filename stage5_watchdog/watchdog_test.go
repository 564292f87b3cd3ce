package stage5_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
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

func TestNoRenewalAfterUnlockReturned(t *testing.T) {
	for held, want := range map[time.Duration][]time.Duration{0: nil, 25 * time.Second: {10 * time.Second, 20 * time.Second}} {
		run := lock.Play(t, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Sleep(held)
			a.Unlock()
			w.Sleep(time.Hour)
		})
		require.Equal(t, want, renewals(run))
	}
}

// The reply to a renewal is slow when A unlocks. The delete waits for it.
func TestUnlockWaitsForTheRenewalUnderWay(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Background).Delay(2 * time.Second)
		w.Sleep(11 * time.Second) // the renewal of 10 s is on its way
		a.Unlock()
	})
	require.Equal(t, []string{
		"0s SET lock:order:1001 A1 NX PX 30000",
		"10s EVALSHA renew 1 lock:order:1001 A1 30000",
		"12s EVALSHA unlock 1 lock:order:1001 A1",
	}, run.Timed("A"))
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

func TestWatchdogGoesOnAfterAnError(t *testing.T) {
	tests := map[string]func(a *world.Client){
		"an answer of Redis": func(a *world.Client) {
			a.Before(world.Background).Fail("LOADING Redis is loading the dataset in memory")
		},
		"a broken connection": func(a *world.Client) { a.Before(world.Background).Drop() },
		"a lost reply":        func(a *world.Client) { a.After(world.Background).Drop() },
	}
	for name, strike := range tests {
		t.Run(name, func(t *testing.T) {
			run := lock.Play(t, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				a.Lock()
				strike(a)
				w.Sleep(45 * time.Second)
				b.TryLock()
				a.Unlock()
			})
			require.False(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
			require.Empty(t, run.Returned(t, "A", trace.OpUnlock).Result.Error)
		})
	}
}

// A's renewals do not get through, and B takes the lock. Then the network heals.
func TestWatchdogLeavesTheLeaseOfAnotherOwnerAlone(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Cut()
		w.Sleep(31 * time.Second)
		b.Lock()
		w.Sleep(5 * time.Second)
		a.Heal() // and the renewal that was on its way arrives
	})
	commands := run.Executed("A")
	last := commands[len(commands)-1]
	require.Equal(t, "EVALSHA renew 1 lock:order:1001 A1 30000", last.Line())
	require.Equal(t, "0", last.Reply)
	require.Equal(t, "B1", last.Keys[0].Value())
	require.Equal(t, 25*time.Second, last.Keys[0].TTL)
}

func TestRenewalsEndWithTheProcess(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(15 * time.Second)
		a.Crash()
		b.Lock()
	})
	require.Equal(t, []time.Duration{10 * time.Second}, renewals(run))
	require.Equal(t, 40*time.Second, run.Returned(t, "B", trace.OpLock).At, "one lease after the last renewal")
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
	require.Empty(t, renewals(run))
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

func TestRefusedTryLockLeavesTheHoldersWatchdogAlone(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(5 * time.Second)
		a.TryLock() // refused: A itself holds the lock
		w.Sleep(10 * time.Second)
	})
	require.Equal(t, []time.Duration{10 * time.Second}, renewals(run))
}

// renewals returns the times of A's renewals.
func renewals(run locktest.Run) (moments []time.Duration) {
	for _, e := range run.Executed("A") {
		if slices.Contains(e.Command, "renew") {
			moments = append(moments, e.At)
		}
	}
	return moments
}

package stage5_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
	stage5 "lockkata/stage5_watchdog"
)

func TestWatchdogRenewsEveryThirdOfTheLease(t *testing.T) {
	trace := play(t, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(40 * time.Second)
	})
	require.Equal(t, []sent{
		{0, "SET lock:order:1001 A1 NX PX 30000"},
		{10 * time.Second, "EVALSHA renew 1 lock:order:1001 A1 30000"},
		{20 * time.Second, "EVALSHA renew 1 lock:order:1001 A1 30000"},
		{30 * time.Second, "EVALSHA renew 1 lock:order:1001 A1 30000"},
		{40 * time.Second, "EVALSHA renew 1 lock:order:1001 A1 30000"},
	}, sentBy(trace, "A"))
}

func TestEachRenewalGivesTheWholeLease(t *testing.T) {
	trace := play(t, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(35 * time.Second)
	})
	for _, e := range trace.Events {
		if e.Kind == world.Executed {
			require.Equal(t, lease, e.Keys[0].TTL, "after %s at %v", e.Line(), e.At)
		}
	}
}

func TestHolderKeepsTheLockForAnHour(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(time.Hour)
		b.TryLock()
		a.Unlock()
	})
	require.False(t, returned(t, trace, "B", world.OpTryLock).Result.Held)
	require.Empty(t, returned(t, trace, "A", world.OpUnlock).Result.Error)
	require.Len(t, renewals(trace, "A"), 360)
}

func TestNoRenewalAfterUnlockReturned(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(25 * time.Second)
		a.Unlock()
		w.Sleep(time.Hour)
	})
	require.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second}, renewals(trace, "A"))
}

func TestUnlockThatComesAtOnceEndsTheWatchdog(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
		w.Sleep(time.Hour)
	})
	require.Empty(t, renewals(trace, "A"))
}

// The reply to a renewal is slow when A unlocks. The delete waits for it.
func TestUnlockWaitsForTheRenewalUnderWay(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Background).Delay(2 * time.Second)
		w.Sleep(11 * time.Second) // the renewal of 10 s is on its way
		a.Unlock()
	})
	require.Equal(t, []sent{
		{0, "SET lock:order:1001 A1 NX PX 30000"},
		{10 * time.Second, "EVALSHA renew 1 lock:order:1001 A1 30000"},
		{12 * time.Second, "EVALSHA unlock 1 lock:order:1001 A1"},
	}, sentBy(trace, "A"))
}

func TestUnlockDoesNotWaitForARenewalLongerThanAThirdOfTheLease(t *testing.T) {
	trace := playWith(t, newRenewed, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Background).Delay(time.Hour)
		w.Sleep(11 * time.Second)
		a.Unlock()
	})
	unlock := returned(t, trace, "A", world.OpUnlock)
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
			trace := play(t, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				a.Lock()
				strike(a)
				w.Sleep(45 * time.Second)
				b.TryLock()
				a.Unlock()
			})
			require.False(t, returned(t, trace, "B", world.OpTryLock).Result.Held)
			require.Empty(t, returned(t, trace, "A", world.OpUnlock).Result.Error)
		})
	}
}

// A's renewals do not get through, and B takes the lock. Then the network heals.
func TestWatchdogLeavesTheLeaseOfAnotherOwnerAlone(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Cut()
		w.Sleep(31 * time.Second)
		b.Lock()
		w.Sleep(5 * time.Second)
		a.Heal() // and the renewal that was on its way arrives
	})
	var last world.Event
	for _, e := range trace.Events {
		if e.Kind == world.Executed {
			last = e
		}
	}
	require.Equal(t, "EVALSHA renew 1 lock:order:1001 A1 30000", last.Line())
	require.Equal(t, "0", last.Reply)
	require.Equal(t, "B1", last.Keys[0].Value)
	require.Equal(t, lease-5*time.Second, last.Keys[0].TTL)
}

func TestWatchdogEndsWhenTheKeyIsGone(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(5 * time.Second)
		w.Evict()
		w.Sleep(time.Hour)
	})
	require.Equal(t, []time.Duration{10 * time.Second}, renewals(trace, "A"))
}

// This is what is left for stage 6: A works on, and only Unlock tells.
func TestNobodyIsToldOfALoss(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Evict()
		w.Sleep(time.Hour)
		a.Unlock()
	})
	for _, e := range trace.Events {
		require.NotEqual(t, world.Lost, e.Kind)
	}
	require.Equal(t, stage5.ErrNotHeld.Error(), returned(t, trace, "A", world.OpUnlock).Result.Error)
}

func TestRenewalsEndWithTheProcess(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(15 * time.Second)
		a.Crash()
		b.Lock()
	})
	require.Equal(t, []time.Duration{10 * time.Second}, renewals(trace, "A"))
	require.Equal(t, 40*time.Second, returned(t, trace, "B", world.OpLock).At, "one lease after the last renewal")
}

func TestWithoutWatchdogTheLeaseEnds(t *testing.T) {
	trace := playWith(t, newUnrenewed, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(lease + 50*time.Millisecond)
		b.TryLock()
		a.Unlock()
	})
	require.Empty(t, renewals(trace, "A"))
	require.True(t, returned(t, trace, "B", world.OpTryLock).Result.Held)
	require.Equal(t, stage5.ErrNotHeld.Error(), returned(t, trace, "A", world.OpUnlock).Result.Error)
}

func TestTTLTooShortToRenewIsRefused(t *testing.T) {
	rdb := newClient(t, miniredis.RunT(t))
	mutex, err := stage5.NewMutex(rdb, lockName, 29*time.Millisecond)
	require.EqualError(t, err, "stage5: ttl 29ms is too short to be renewed three times: use 30ms or more, or WithoutWatchdog")
	require.Nil(t, mutex)
	_, err = stage5.NewMutex(rdb, lockName, 30*time.Millisecond)
	require.NoError(t, err)
}

func TestShortTTLIsAcceptedWithoutWatchdog(t *testing.T) {
	server := miniredis.RunT(t)
	mutex, err := stage5.NewMutex(newClient(t, server), lockName, time.Millisecond, stage5.WithoutWatchdog())
	require.NoError(t, err)
	require.True(t, tryLock(t, mutex))
	require.Equal(t, time.Millisecond, server.TTL(key))
}

// A takes the lock again without having unlocked what it lost. Only the new hold
// is renewed, counted from its own beginning.
func TestTryLockAfterALossStartsOneWatchdogAnew(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(3 * time.Second)
		w.Evict() // and the first watchdog would notice at 10 s
		a.TryLock()
		w.Sleep(30 * time.Second)
		a.Unlock()
		w.Sleep(time.Minute)
	})
	require.Equal(t, []sent{
		{0, "SET lock:order:1001 A1 NX PX 30000"},
		{3 * time.Second, "SET lock:order:1001 A2 NX PX 30000"},
		{13 * time.Second, "EVALSHA renew 1 lock:order:1001 A2 30000"},
		{23 * time.Second, "EVALSHA renew 1 lock:order:1001 A2 30000"},
		{33 * time.Second, "EVALSHA renew 1 lock:order:1001 A2 30000"},
		{33 * time.Second, "EVALSHA unlock 1 lock:order:1001 A2"},
	}, sentBy(trace, "A"))
}

func TestRefusedTryLockLeavesTheHoldersWatchdogAlone(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(5 * time.Second)
		a.TryLock() // no: A itself holds the lock
		w.Sleep(10 * time.Second)
	})
	require.Equal(t, []time.Duration{10 * time.Second}, renewals(trace, "A"))
}

func newRenewed(rdb redis.UniversalClient, name string, ttl time.Duration) (world.Locker, error) {
	return stage5.NewMutex(rdb, name, ttl)
}

func newUnrenewed(rdb redis.UniversalClient, name string, ttl time.Duration) (world.Locker, error) {
	return stage5.NewMutex(rdb, name, ttl, stage5.WithoutWatchdog())
}

// sent is a command and when Redis ran it.
type sent struct {
	At      time.Duration
	Command string
}

func sentBy(trace *world.Trace, client string) []sent {
	var commands []sent
	for _, e := range trace.Events {
		if e.Kind == world.Executed && e.Client == client {
			commands = append(commands, sent{e.At, e.Line()})
		}
	}
	return commands
}

// renewals are the moments at which the client renewed.
func renewals(trace *world.Trace, client string) []time.Duration {
	var moments []time.Duration
	for _, c := range sentBy(trace, client) {
		if slices.Contains(strings.Fields(c.Command), "renew") {
			moments = append(moments, c.At)
		}
	}
	return moments
}

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
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
	"lockkata/internal/stages/subject64"
	stage6 "lockkata/stage6_reentrant_pubsub/step4_wakeup"
)

var lock = locktest.Lock{
	Subject: subject64.Subject(), Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.4")) }

// The fix: B sends nothing while it waits, and has the lock when A has freed it.
func TestWaiterIsWokenByUnlock(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		waiting := b.StartLock()
		w.Sleep(25 * time.Second)
		a.Unlock()
		waiting.Wait()
	})
	require.Equal(t, []string{
		"0s EVALSHA acquire 1 lock:order:1001 B? 30000",
		"0s SUBSCRIBE lock:order:1001",
		"0s EVALSHA acquire 1 lock:order:1001 B? 30000",
		"25s EVALSHA acquire 1 lock:order:1001 B1 30000",
	}, run.Timed("B"))
	for _, e := range run.Events {
		require.False(t, e.Kind == world.Sent && e.Client == "A" && e.Command[0] == "SUBSCRIBE", "the lock was free")
	}
}

func TestInnerUnlockWakesNobody(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.StartLock()
		w.Sleep(time.Second)
		a.Lock()
		a.Unlock()
		w.Sleep(time.Second)
	})
	require.Len(t, run.Commands("B"), 3)
}

// Nobody publishes that a lease is over, and a renewed one is not over when it was told.
func TestWaiterAsksAgainWhenTheLeaseThatItWasToldOfIsOver(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(5 * time.Second)
		waiting := b.StartLock()
		w.Sleep(10 * time.Second) // a renewal
		a.Crash()
		waiting.Wait()
	})
	require.Equal(t, []string{
		"30.001s EVALSHA acquire 1 lock:order:1001 B? 30000",
		"40.001s EVALSHA acquire 1 lock:order:1001 B1 30000",
	}, run.Timed("B")[3:])
}

// The key of a lock that has no lease, which this lock never makes, keeps nobody busy.
func TestWaiterForAKeyWithoutALeaseAsksOnceALease(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		w.Client("A").StartRun("HSET", "lock:order:1001", "somebody", "1").Wait()
		w.Client("B").Lock(world.Within(70 * time.Second))
	})
	require.Len(t, run.Commands("B"), 5, "two to begin with, one to listen, and one each lease")
}

// What it has of a waiter ends with the waiter: goleak looks.
func TestLockThatGivesUpLeavesNothing(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "order:1001", time.Minute)
	require.NoError(t, err)
	hold, err := mutex.Lock(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = mutex.Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, hold.Unlock())
}

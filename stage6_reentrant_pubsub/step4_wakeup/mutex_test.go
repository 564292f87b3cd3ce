package stage6_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step4_wakeup"
)

var lock = locktest.Lock{
	Subject: step.Subject("6.4", "step4_wakeup", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub),
	Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Resends: true,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.4")) }

// The fix: B sends nothing while it waits, and gets the lock when A frees it.
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
		require.False(t, e.Kind == trace.Sent && e.Client == "A" && e.Command[0] == "SUBSCRIBE", "the lock was free")
	}
}

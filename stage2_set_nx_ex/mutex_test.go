package stage2_test

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
	stage2 "lockkata/stage2_set_nx_ex"
)

var subject = failures.Subject{Name: "stage2", New: adapters.Plain(stage2.NewMutex), Has: []failures.Feature{failures.FixedValue}}

var lock = locktest.Lock{Subject: subject}

func TestMain(m *testing.M) { goleak.VerifyTestMain(locktest.Summarize(m, lock)) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, subject, failures.Expected("2")) }

func TestLockAndUnlockSendTheseCommands(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{
		"SET lock:order:1001 locked NX PX 30000",
		"DEL lock:order:1001",
	}, run.Commands("A"))
}

// The fix: A dies as it did in stage 1, and its key is gone a lease later.
func TestKeyOfADeadClientHasALease(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Named("SET")).Crash()
		a.Lock()
		b.Lock()
	})
	require.Equal(t, 30*time.Second, run.Returned(t, "B", trace.OpLock).At)
}

// The bug: A's lease ends while it works, and its DEL removes the key of B.
func TestLateUnlockDeletesTheKeyOfTheNextClient(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
		a.Unlock()
	})
	require.Empty(t, run.Returned(t, "A", trace.OpUnlock).Result.Error, "A is not told")
	require.Empty(t, run.Executed("A")[1].Keys, "B's key is gone")
}

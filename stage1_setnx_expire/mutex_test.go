package stage1_test

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
	stage1 "lockkata/stage1_setnx_expire"
)

var subject = failures.Subject{Name: "stage1", New: adapters.Plain(stage1.NewMutex), Has: []failures.Feature{failures.FixedValue}}

var lock = locktest.Lock{Subject: subject}

func TestMain(m *testing.M) { goleak.VerifyTestMain(locktest.Summarize(m, lock)) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, subject, failures.Expected("1")) }

func TestLockAndUnlockSendTheseCommands(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{
		"SETNX lock:order:1001 locked",
		"PEXPIRE lock:order:1001 30000",
		"DEL lock:order:1001",
	}, run.Commands("A"))
}

// The bug: A dies after its first command, and B waits for a key that has no lease.
func TestCrashBetweenTheCommandsLeavesAKeyWithoutALease(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Named("SETNX")).Crash()
		a.Lock()
		w.Sleep(24 * time.Hour)
		b.TryLock()
	})
	require.False(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
	require.Equal(t, trace.NoTTL, run.Executed("B")[0].Keys[0].TTL)
}

// The key exists, but without a lease, so TryLock must not return true.
func TestErrorOfPEXPIREIsReturned(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("PEXPIRE")).Fail("ERR value is not an integer or out of range")
		a.TryLock()
	})
	require.Contains(t, run.Returned(t, "A", trace.OpTryLock).Result.Error, "stage1: lease of lock:order:1001: ERR value")
}

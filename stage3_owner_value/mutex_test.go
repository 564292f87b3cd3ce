package stage3_test

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
	stage3 "lockkata/stage3_owner_value"
)

var subject = failures.Subject{Name: "stage3", New: adapters.Plain(stage3.NewMutex)}

var lock = locktest.Lock{Subject: subject, NotHeld: stage3.ErrNotHeld}

func TestMain(m *testing.M) { goleak.VerifyTestMain(locktest.Summarize(m, lock)) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, subject, failures.Expected("3")) }

func TestLockAndUnlockSendTheseCommands(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{
		"SET lock:order:1001 A1 NX PX 30000",
		"GET lock:order:1001",
		"DEL lock:order:1001",
	}, run.Commands("A"))
}

// The fix: A unlocks as late as in stage 2, finds B's value in the key, and does not delete it.
func TestLateUnlockLeavesTheKeyOfTheNextClient(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
		a.Unlock()
	})
	require.Equal(t, stage3.ErrNotHeld.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
	require.Equal(t, "B1", run.Executed("A")[1].Keys[0].Value())
}

// The bug: the key is A's when GET looks, and B's when DEL arrives.
func TestLockThatChangesHandsBetweenGetAndDelIsDeleted(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(29 * time.Second)
		a.Before(world.Named("DEL")).Delay(2 * time.Second)
		unlocking := a.StartUnlock()
		b.Lock() // a second later
		unlocking.Wait()
	})
	require.Empty(t, run.Returned(t, "A", trace.OpUnlock).Result.Error, "A is not told")
	require.Empty(t, run.Executed("A")[2].Keys, "B's key is gone")
}

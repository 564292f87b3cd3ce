package stage4_test

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
	stage4 "lockkata/stage4_lua_unlock"
)

var subject = failures.Subject{Name: "stage4", New: adapters.Plain(stage4.NewMutex), Has: []failures.Feature{failures.Scripts}}

var lock = locktest.Lock{Subject: subject, NotHeld: stage4.ErrNotHeld}

func TestMain(m *testing.M) { goleak.VerifyTestMain(locktest.Summarize(m, lock)) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, subject, failures.Expected("4")) }

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

// The fix: the one command that compares and deletes is as late as stage 3's DEL was.
func TestUnlockThatArrivesLateLeavesTheKeyOfTheNextClient(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(29 * time.Second)
		a.Before(world.Named("EVALSHA")).Delay(2 * time.Second)
		unlocking := a.StartUnlock()
		b.Lock() // a second later
		unlocking.Wait()
	})
	require.Equal(t, stage4.ErrNotHeld.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
	require.Equal(t, "B1", run.Executed("A")[1].Keys[0].Value())
}

// The bug: A works for longer than its lease, and B gets the lock in the meantime.
func TestWorkThatOutlivesItsLeaseIsNotProtected(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.TryLock()
		w.Sleep(time.Second)
		a.Unlock()
	})
	require.True(t, run.Returned(t, "B", trace.OpTryLock).Result.Held)
	require.Equal(t, stage4.ErrNotHeld.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
}

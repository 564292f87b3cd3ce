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
	stage6 "lockkata/stage6_reentrant_pubsub/step1_told"
)

var lock = locktest.Lock{
	Subject: step.Subject("6.1", "step1_told", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog),
	Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.1")) }

// The fix: A's network fails. A is told one lease after its last answered renewal
// was sent, which is before Redis removes the key.
func TestHolderWithoutNetworkIsToldWhenItsLeaseEnds(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(15 * time.Second)
		a.Cut()
		w.Sleep(time.Minute)
		a.Heal()
		a.Unlock()
	})
	require.Equal(t, []time.Duration{40 * time.Second}, lost(run))
	require.Equal(t, stage6.ErrLost.Error(), run.Returned(t, "A", trace.OpUnlock).Result.Error)
}

// lost returns the times at which A was told of a loss.
func lost(run locktest.Run) (moments []time.Duration) {
	for _, e := range run.Events {
		if e.Kind == trace.Lost {
			moments = append(moments, e.At)
		}
	}
	return moments
}

package failures_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// hostile is stage 4 with a TryLock that does more.
type hostile struct {
	failures.Locker
	mu  sync.Mutex
	how string
}

func (h *hostile) TryLock(ctx context.Context) (bool, error) {
	switch h.how {
	case "spins":
		for ctx.Err() == nil {
		}
	case "holds a mutex":
		h.mu.Lock()
		defer h.mu.Unlock()
		go h.TryLock(ctx)
	case "leaks":
		go func() { <-make(chan struct{}) }()
	case "lies":
		return true, nil
	}
	return h.Locker.TryLock(ctx)
}

func newHostile(how string) world.Constructor {
	return func(p *world.Process, name string, lease time.Duration) (failures.Locker, error) {
		lock, err := stages.MustFind("4").Subject.New(p, name, lease)
		return &hostile{Locker: lock, how: how}, err
	}
}

// The child process of the tests below.
func TestHostileLock(t *testing.T) {
	how := os.Getenv("LOCKKATA_HOSTILE")
	if how == "" {
		t.Skip("the two tests below run it")
	}
	failures.StuckAfter(time.Second)
	if how == "spins" { // at the cost of a processor
		failures.StuckAfter(100 * time.Millisecond)
	}
	failures.Check(t, failures.Subject{Name: how, New: newHostile(how), Has: stages.MustFind("4").Subject.Has}, failures.Flawless)
}

func TestStuckLockIsReportedWithItsLine(t *testing.T) {
	for how, says := range map[string]string{
		"spins":         "spins does not end: your lock loops without end: TryLock loops without end at failures_test/stranger_test.go:",
		"holds a mutex": "does not end: your lock holds a sync.Mutex across a Redis call: TryLock waits at failures_test/stranger_test.go:",
		"leaks":         "your lock leaks a goroutine: A goroutine of your lock is still running at failures_test/stranger_test.go:",
	} {
		t.Run(how, func(t *testing.T) {
			child := exec.Command(os.Args[0], "-test.run=^TestHostileLock$")
			child.Env = append(os.Environ(), "LOCKKATA_HOSTILE="+how)
			out, err := child.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), says)
			if how == "leaks" { // the verdicts are not affected
				cells := map[failures.Outcome]int{}
				for _, f := range catalogue.All {
					cells[stages.MustFind("4").Expect(f)]++
				}
				require.Contains(t, string(out), fmt.Sprintf("broken %d, safe %d, not by this lock %d, not applicable %d",
					cells[failures.Broken], cells[failures.Safe], cells[failures.Limit], cells[failures.NotApplicable]))
				require.Contains(t, string(out), "\n        1 failure: the holder is not told of a loss in time: work-outlives-fixed-lease\n")
			}
		})
	}
}

func TestLockThatBreaksABasicFailureIsNotAskedTheRest(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.v", "-test.run=^TestHostileLock$")
	child.Env = append(os.Environ(), "LOCKKATA_HOSTILE=lies")
	out, err := child.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "second-client: broken: broken exclusion: B is inside the lock while A still is")
	require.Contains(t, string(out), "connections-given-back: ", "the basic ones")
	require.NotContains(t, string(out), "crash-before-expire")
}

// The README shows this command: go test -run TestFailures/late-unlock.
func TestRunFlagSelectsOneFailure(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.v", "-test.run=^TestHostileLock$/^late-unlock$")
	child.Env = append(os.Environ(), "LOCKKATA_HOSTILE=calm")
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "late-unlock: safe, as expected of calm: A key stayed: the story takes that as given")
	require.NotContains(t, string(out), "crash-before-expire")
}

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

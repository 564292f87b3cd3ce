//go:build languages

package foreign_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/foreign"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/timeline"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.Exit(max(code, fleet.Running())) }))
}

// bench starts servers and returns the bench of a worker on them.
func bench(t *testing.T, w foreign.Worker) *foreign.Bench {
	t.Helper()
	s, err := live.Start(t.Context(), 6)
	redisserver.Need(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	b, err := foreign.New(t.Context(), s, w)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// play plays failures on the lock of a worker; none: the first screen. Those for which the machine was too busy it plays
// again, up to three times.
func play(t *testing.T, w foreign.Worker, ids ...string) map[string]failures.Cell {
	t.Helper()
	var all []catalogue.Failure
	for _, f := range catalogue.OfLocks() {
		if ids == nil && f.FirstScreen || strings.Contains(strings.Join(ids, " ")+" ", f.ID+" ") {
			all = append(all, f)
		}
	}
	cells, b := map[string]failures.Cell{}, bench(t, w)
	for range 4 {
		require.NoError(t, b.Play(t.Context(), failures.Tasks(all), func(c failures.Cell) { cells[c.Failure.ID] = c }))
		all = slices.DeleteFunc(all, func(f catalogue.Failure) bool { return !errors.Is(cells[f.ID].Err, live.ErrBusy) })
	}
	return cells
}

// stage returns the worker of a lock of this repository.
func stage(t *testing.T, id string) foreign.Worker {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stages")
	out, err := exec.Command("go", "build", "-o", file, "./workers/stages").CombinedOutput()
	require.NoError(t, err, string(out))
	w := foreign.Worker{Command: []string{file, id}}
	if slices.Contains(stages.MustFind(id).Subject.Has, failures.Closing) {
		w.Has = []failures.Feature{failures.Closing}
	}
	return w
}

// apart are the failures that are played differently over the wire, or not at all, by reason.
var apart = map[string]string{
	"the protocol has no token, no forced unlock, no number of holds and no context of a hold": `process-pause-fenced write-delayed-fenced
		evicted-or-flushed-fenced failover-async-fenced clock-jump-fenced token-after-flush token-after-failover token-after-clock-back
		token-of-reentry token-before-grant token-after-grant forced-unlock forced-unlock-told hold-context-ends reentry-near-the-end`,
	"a Subject sets up a lease that is not renewed, or other locks beside it": `delete-foreign loss-hidden-at-unlock last-millisecond
		lease-below-a-second work-outlives-fixed-lease fixed-lease-taken fixed-renewed fixed-beside-renewed expiry-among-many
		acquire-after-its-caller reentry-after-loss`,
	"a Subject sets a limit for a hold": `renewed-for-ever reentered-for-ever hold-dropped`,
	"it sets options of go-redis":       `pool-starved connections-given-back retry-nx-false retry-unlock retry-count-two`,
	"a process with two locks is a shared worker's": `two-objects two-names-nested next-hold-renewed renewals-in-two-slots
		renewals-refused-by-proxy renewals-sent-to-one-server`,
	"a call does not begin with a context that has ended": `unlock-cancelled-ctx unlock-comes-back-early lock-error-told`,
	"two calls of one process change something at once":   `two-at-once fair-in-process second-goroutine-reenters close-after-lost-grant`,
}

func isApart(f catalogue.Failure) bool {
	all := strings.Fields(strings.Join(slices.Collect(maps.Values(apart)), " "))
	return f.Live != "" || slices.Contains(all, f.ID)
}

var (
	played = flag.String("stages", "2 6", "the stages to play as workers")
	whole  = flag.Bool("whole", false, "play every failure on them, for some minutes each, and not the first screen only")
)

// The verdicts on a stage in processes of its own are those of the controlled world. Of all failures, one in twenty may
// be undecided on a busy machine, and one in fifty of the others may differ.
func TestStagesAsWorkers(t *testing.T) {
	var all []string
	if *whole {
		for _, f := range catalogue.OfLocks() {
			all = append(all, f.ID)
		}
	}
	for _, id := range strings.Fields(*played) {
		t.Run(id, func(t *testing.T) {
			sum, undecided, differ := 0, 0, 0
			for name, cell := range play(t, stage(t, id), all...) {
				want := failures.Expected(id)(cell.Failure)
				switch decided := cell.Outcome.IsGood() || slices.Contains([]failures.Outcome{failures.Broken, failures.Limit}, cell.Outcome); {
				case isApart(cell.Failure) || want == failures.NotApplicable:
					continue
				case !decided:
					undecided++
				case cell.Outcome != want:
					differ++
				}
				if sum++; cell.Outcome != want {
					t.Logf("%s: %s, not %s: %s", name, cell.Outcome, want, cell.Sentence())
					if cell.Trace != nil && cell.Outcome == failures.Broken {
						t.Log(timeline.Text(cell.Trace, cell.Findings, timeline.Options{}))
					}
				}
			}
			t.Logf("stage %s: %d played, %d undecided, %d differ", id, sum, undecided, differ)
			require.LessOrEqual(t, undecided, sum/20)
			require.LessOrEqual(t, differ, (sum-undecided)/50)
		})
	}
}

// With SIGSTOP the process itself stands still.
func TestStoppedWorkerGoesOn(t *testing.T) {
	w := stage(t, "3")
	w.Stop = true
	cell := play(t, w, "check-then-delete")["check-then-delete"]
	require.Equal(t, failures.Broken, cell.Outcome, cell.Sentence())
}

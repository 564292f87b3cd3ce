//go:build live

package foreign_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

// play plays failures on the lock of a worker; none: the first screen.
func play(t *testing.T, w foreign.Worker, ids ...string) map[string]failures.Cell {
	t.Helper()
	var all []catalogue.Failure
	for _, f := range catalogue.OfLocks() {
		if ids == nil && f.FirstScreen || strings.Contains(strings.Join(ids, " ")+" ", f.ID+" ") {
			all = append(all, f)
		}
	}
	cells := map[string]failures.Cell{}
	require.NoError(t, bench(t, w).Play(t.Context(), failures.Tasks(all), func(c failures.Cell) { cells[c.Failure.ID] = c }))
	require.Len(t, cells, len(all))
	return cells
}

// stage returns the worker of a lock of this repository.
func stage(t *testing.T, id string) foreign.Worker {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stages")
	out, err := exec.Command("go", "build", "-o", file, "./workers/stages").CombinedOutput()
	require.NoError(t, err, string(out))
	return foreign.Worker{Command: []string{file, id}}
}

// apart are the failures of the first screen that do not apply to a stage over the wire.
var apart = map[string]string{
	"process-pause-fenced":  "a fencing token",
	"delete-foreign":        "a lease that is not renewed, on a lock with a watchdog",
	"loss-hidden-at-unlock": "a lease that is not renewed, on a lock with a watchdog",
}

// The verdicts on a stage in processes of its own are those of the controlled world.
func TestStagesAsWorkers(t *testing.T) {
	for _, id := range []string{"2", "6"} {
		t.Run(id, func(t *testing.T) {
			for name, cell := range play(t, stage(t, id)) {
				want := failures.Expected(id)(cell.Failure)
				if _, isApart := apart[name]; isApart && cell.Outcome == failures.NotApplicable {
					continue
				}
				if cell.Outcome != want && cell.Trace != nil {
					t.Log(timeline.Text(cell.Trace, cell.Findings, timeline.Options{}))
				}
				require.Equal(t, want, cell.Outcome, "%s: %s", name, cell.Sentence())
			}
		})
	}
}

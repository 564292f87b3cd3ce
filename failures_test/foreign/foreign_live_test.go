//go:build languages

package foreign_test

import (
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
	w := foreign.Worker{Command: []string{file, id}}
	if slices.Contains(stages.MustFind(id).Subject.Has, failures.Closing) {
		w.Has = []failures.Feature{failures.Closing}
	}
	return w
}

// apart are the failures whose verdict over the wire is another one than in the controlled world, by the reason.
var apart = map[string]string{
	"a token, a forced unlock, the number of holds or a hold's context is not in the protocol": `process-pause-fenced`,
	"a lease that is not renewed, on a lock with a watchdog":                                   `delete-foreign loss-hidden-at-unlock`,
}

// isApart reports whether a verdict may differ from that of the controlled world.
func isApart(failure string) bool {
	return slices.Contains(strings.Fields(strings.Join(slices.Collect(maps.Values(apart)), " ")), failure)
}

var whole = flag.Bool("whole", false, "play every failure on stages 4, 5, 6.3 and 6, for a quarter of an hour")

// The verdicts on a stage in processes of its own are those of the controlled world.
func TestStagesAsWorkers(t *testing.T) {
	ids, all := []string{"2", "6"}, []string(nil)
	if *whole {
		ids = []string{"4", "5", "6.3", "6"}
		for _, f := range catalogue.OfLocks() {
			all = append(all, f.ID)
		}
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			count := map[failures.Outcome]int{}
			for name, cell := range play(t, stage(t, id), all...) {
				count[cell.Outcome]++
				if want := failures.Expected(id)(cell.Failure); cell.Outcome != want && !isApart(name) {
					t.Errorf("%s: %s, not %s: %s", name, cell.Outcome, want, cell.Sentence())
					if cell.Trace != nil && cell.Outcome == failures.Broken {
						t.Log(timeline.Text(cell.Trace, cell.Findings, timeline.Options{}))
					}
				}
			}
			t.Log(count)
		})
	}
}

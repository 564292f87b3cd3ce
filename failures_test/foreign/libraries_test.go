//go:build languages

package foreign_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/foreign"
)

// libraries are those of other languages whose report cards are in failures_test/others. DIR is the folder of
// LOCKKATA_PACKAGES with the library: redis-py as pip install --target has it, or the jars of Redisson.
var libraries = map[string]foreign.Worker{
	"redis-py": {Command: []string{"python3", "redis-py/worker.py"}},
	"redisson": {Command: []string{"java", "-cp", "DIR/jars/*", "redisson/Worker.java"}, Shared: true},
}

// The first screen of a library is as its card says. What differs is played again, alone: the machine may have been
// busy.
func TestLibrariesAreAsTheirCardsSay(t *testing.T) {
	for name, w := range libraries {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(os.Getenv("LOCKKATA_PACKAGES"), name)
			t.Setenv("PYTHONPATH", dir)
			w.Command = slices.Clone(w.Command)
			last := len(w.Command) - 1
			w.Command[last] = filepath.Join("../others/workers", w.Command[last])
			for i := range w.Command {
				w.Command[i] = strings.ReplaceAll(w.Command[i], "DIR", dir)
			}
			raw, err := os.ReadFile(filepath.Join("../others/testdata", name+".txt"))
			require.NoError(t, err)
			card := "\n" + string(raw)
			differs := func(c failures.Cell) bool {
				return !strings.Contains(card, "\n"+c.Failure.ID+": "+c.Outcome.String()+"\n")
			}
			cells := play(t, w)
			for id, c := range cells {
				if differs(c) {
					cells[id] = play(t, w, id)[id]
				}
			}
			for id, c := range cells {
				require.False(t, differs(c), "%s: %s, not as its card says: %s", id, c.Outcome, c.Sentence())
			}
		})
	}
}

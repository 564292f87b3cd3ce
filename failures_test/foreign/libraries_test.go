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
// LOCKKATA_PACKAGES with the library: what pip install --target makes, or npm install --prefix, or the jars.
var libraries = map[string]foreign.Worker{
	"redis-py":           {Command: []string{"python3", "redis-py/worker.py"}},
	"python-redis-lock":  {Command: []string{"python3", "python-redis-lock/worker.py"}},
	"redlock":            {Command: []string{"node", "redlock/worker.mjs"}},
	"sesamecare-redlock": {Command: []string{"node", "sesamecare-redlock/worker.mjs"}},
	"redis-semaphore":    {Command: []string{"node", "redis-semaphore/worker.mjs"}},
	"redisson":           {Command: []string{"java", "-cp", "DIR/jars/*", "redisson/Worker.java"}, Shared: true},
	"spring-integration": {Command: []string{"java", "-cp", "DIR/jars/*", "spring-integration/Worker.java"}, Shared: true},
	"shedlock":           {Command: []string{"java", "-cp", "DIR/jars/*", "shedlock/Worker.java"}, Shared: true},
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
			if filepath.Ext(w.Command[last]) == ".mjs" {
				w.Command[last] = besidePackages(t, w.Command[last], dir)
			}
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

// besidePackages copies a worker to a folder with the packages of a library, and returns the copy. Node resolves
// packages only from the folders above the importing file.
func besidePackages(t *testing.T, worker, packages string) string {
	t.Helper()
	raw, err := os.ReadFile(worker)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")))
	file := filepath.Join(dir, filepath.Base(worker))
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	return file
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata"
)

// module writes a lock into a folder: stage 4's, with an edit, and the other files.
func module(t *testing.T, old, new string, files map[string]string) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	dir = filepath.Join(t.TempDir(), "my lock")
	lock, err := os.ReadFile("../../stage4_lua_unlock/mutex.go")
	require.NoError(t, err)
	require.Contains(t, string(lock), old)
	text := strings.Replace(string(lock), "package stage4\n", "package lock\n", 1)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "lock"), 0o755))
	all := map[string]string{"lock/mutex.go": strings.Replace(text, old, new, 1)}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// modFile is a go.mod as their authors have it, with what else it requires.
func modFile(more string) string {
	return "module example.com/shop\n\ngo 1.26\n\nrequire (\n\tgithub.com/google/uuid v1.6.0\n\tgithub.com/redis/go-redis/v9 v9.23.0\n)\n" + more
}

const attempt = "	value := uuid.NewString()\n"

// A lock in a module of its own sets the file of what is expected; the same lock with one
// mistake more, in no module at all, differs from it in just that.
func TestGradeOfALockInAModuleOfItsOwnAndInNone(t *testing.T) {
	dir := module(t, "", "", map[string]string{"go.mod": modFile("")})
	page, golden := filepath.Join(dir, "card.html"), filepath.Join(dir, "card.txt")
	lock := filepath.Join(dir, "lock")
	status, out, errors := command(t, "grade", lock, "--json", "--html", page, "--expect", golden, "--update")
	require.Equal(t, exitOK, status, errors)
	var card kata.Card
	require.NoError(t, json.Unmarshal([]byte(out), &card))
	outcomes := map[string]string{}
	for _, c := range card.Cells {
		outcomes[c.Failure] = c.Outcome
		require.Empty(t, c.Again, "%s flips", c.Failure)
	}
	require.Len(t, outcomes, len(failureIDs()))
	require.Equal(t, "broken", outcomes["work-outlives-ttl"])
	require.Equal(t, "safe", outcomes["check-then-delete"])
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "mutex.go", "the runs name the lock's own lines")

	wrong := filepath.Join(module(t, "deleted == 0", "deleted < 0", nil), "lock")
	status, out, errors = command(t, "grade", wrong, "--markdown", "--expect", golden)
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "| `check-then-delete` | ✓ |")
	require.Contains(t, errors, "loss-hidden-at-unlock is broken, not safe: loss noticed: Unlock tells A that all is well")
	require.NotContains(t, errors, "second-client")
}

func TestGradeOfWhatCannotBeGraded(t *testing.T) {
	broken := module(t, "func NewMutex", "func newMutex", map[string]string{"go.mod": modFile("")})
	for args, says := range map[string]string{
		"../../docs":                             "there is no Go file in",
		"../../internal/kata --json --markdown":  "exclude each other",
		"../../stage1_setnx_expire --update":     "--update writes the file of --expect",
		"../../stage1_setnx_expire --has wheels": `--has "wheels": no failure asks for that`,
	} {
		status, _, errors := command(t, append([]string{"grade"}, strings.Fields(args)...)...)
		require.Equal(t, exitBadUsage, status, args)
		require.Contains(t, errors, says)
	}
	status, out, _ := command(t, "grade", filepath.Join(broken, "lock"))
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "there is no func NewMutex")
}

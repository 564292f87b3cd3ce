//go:build live

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

func TestKataWithoutATerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mylock")
	status, out, errors := command(t, "kata", "start", "3", "--dir", dir)
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "exercise 3: The owner's value")
	require.Contains(t, out, "go run . kata check --dir "+dir)

	status, out, errors = command(t, "kata", "check", "--dir", dir)
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "✗ wrong delete: A's DEL removes the lock of B (B1)\n")
	require.Equal(t, "exercise 3 is not passed yet\n", errors)

	status, out, errors = command(t, "kata", "explore", "--property", "wrong-delete", "--env", "async", "--dir", dir)
	require.Equal(t, exitFailed, status)
	require.Equal(t, "a schedule breaks your lock\n", errors)
	require.Contains(t, out, "wrong-delete in async (2 clients, 1 attempt each)\n  broken: ")
	require.Contains(t, out, "7 steps, 3 faults; nothing shorter exists")
	require.Regexp(t, `mutex\.go:\d+\n(?: +yet\)\n)? +✗ wrong delete: `, out)
	status, out, _ = command(t, "kata", "hint", "--dir", dir)
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "Hint for delete-foreign:")

	status, out, errors = command(t, "kata", "solution", "--dir", dir)
	require.Equal(t, exitBadUsage, status)
	require.Empty(t, out)
	require.Contains(t, errors, "exercise 3 is not passed yet: go run . kata hint --dir "+dir+" first, or --yes")
	status, solution, _ := command(t, "kata", "solution", "--yes", "--dir", dir)
	require.Equal(t, exitOK, status)

	text := solution[strings.Index(solution, "package mylock"):]
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mutex.go"), []byte(text), 0o600))
	status, out, errors = command(t, "kata", "check", "--json", "--dir", dir)
	require.Equal(t, exitOK, status, errors)
	var result struct {
		Passed bool
		kata.Report
	}
	require.NoError(t, json.Unmarshal([]byte(out), &result))
	require.True(t, result.Passed)
	require.NotNil(t, result.Verdict("check-then-delete").Trace, "what still shows comes with its trace")

	status, out, _ = command(t, "kata", "next", "--dir", dir)
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "It begins with your own lock of exercise 3.")
}

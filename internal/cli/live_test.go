//go:build live

package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/apart"
)

// A run of an edited lock is drawn with the edited line and its command, and is judged by the rules.
func TestEditedLockIsShown(t *testing.T) {
	for line, says := range map[string][]string{
		"check-then-delete --stage 4 --edit unlock-by-delex": {
			"\n+ m.rdb.Do(ctx, \"DELEX\", m.key, \"IFEQ\", m.value)\n", "On stage 4, unlock by DELEX:", "DELEX K IFEQ A1 → 0", "SAFE from wrong delete",
		},
		"work-outlives-ttl --stage 5 --edit renewal-adds-to-the-lease --lang zh": {
			"续期是在租约上累加", "✗ 租约错误：", "1m10s",
		},
	} {
		status, out, errors := command(t, append([]string{"show"}, strings.Fields(line)...)...)
		require.Equal(t, exitOK, status, errors)
		for _, text := range says {
			require.Contains(t, out, text)
		}
	}
}

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
	require.Contains(t, out, "Hint 1 of 3: ")

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
		apart.Report
	}
	require.NoError(t, json.Unmarshal([]byte(out), &result))
	require.True(t, result.Passed)
	require.NotNil(t, result.Verdict("check-then-delete").Trace, "what still shows comes with its trace")

	status, out, _ = command(t, "kata", "next", "--dir", dir)
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "It begins with your own lock of exercise 3.")
}

func TestLiveMatrixOnServersOfItsOwn(t *testing.T) {
	if _, err := redisserver.Path(); errors.Is(err, redisserver.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip("no redis-server is installed")
	}
	fewFailures(t, "second-client", "script-flush", "clock-jump")
	status, out, errors := command(t, "--live", "--all")
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "on real redis-server processes")
	require.Regexp(t, `(?m)^  second-client +✓  ✓  ✓  ✓`, out)
	require.Regexp(t, `(?m)^  clock-jump +·  ·  ·  ·`, out)
	require.Contains(t, out, "world only")
	require.Contains(t, out, "\nNot played here:\n  clock-jump: a real Redis reads the clock of its machine")
}

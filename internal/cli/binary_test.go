package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// build makes the program, with files replaced as the overlay says. "go run"
// turns every failing status into 1, so statuses are tested on the program.
func build(t *testing.T, overlay map[string]string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "lockkata")
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	file := binary + ".json"
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	cmd := exec.Command("go", "build", "-overlay", file, "-o", binary, ".")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return binary
}

func status(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return exitOK
}

func TestProgramExitsWithItsStatus(t *testing.T) {
	binary := build(t, nil)
	for args, want := range map[string]int{
		"":                          exitOK,
		"show delete-foreign":       exitOK,
		"show no-such-failure":      exitBadUsage,
		"show delete-foreign -v":    exitBadUsage, // the testing package's flags are not ours
		"diff 3":                    exitOK,
		"show oom --stage 1 --json": exitOK,
	} {
		t.Run("lockkata "+args, func(t *testing.T) {
			cmd := exec.Command(binary, strings.Fields(args)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.Equal(t, want, status(t, cmd.Run()), stderr.String())
			require.NotContains(t, stdout.String(), "PASS")
		})
	}
}

func TestDamagedStageMakesTheProgramFailAndNameTheCell(t *testing.T) {
	source, err := filepath.Abs("../../stage4_lua_unlock/mutex.go")
	require.NoError(t, err)
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	damaged := filepath.Join(t.TempDir(), "mutex.go")
	require.NoError(t, os.WriteFile(damaged, bytes.Replace(text, []byte("== ARGV[1]"), []byte("~= ARGV[1]"), 1), 0o600))

	cmd := exec.Command(build(t, map[string]string{source: damaged}))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.Equal(t, exitFailed, status(t, cmd.Run()))
	require.Contains(t, stderr.String(), "delete-foreign on stage4: expected safe, got broken")
}

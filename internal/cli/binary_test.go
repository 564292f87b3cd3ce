package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// scratch is where the program is built; it goes when the tests end.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "lockkata"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(status)
}

// build makes the program, with files replaced as the overlay says.
func build(binary string, overlay map[string]string) error {
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	file := binary + ".json"
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-overlay", file, "-o", binary, ".")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// built is the program, made once for all tests that start it.
var built = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "lockkata")
	return binary, build(binary, nil)
})

// program is where the program is. "go run" turns every failing status into 1, so
// statuses are tested on the program. It is built without the race detector, which
// would learn nothing of it, so -short leaves its tests out.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the program")
	}
	binary, err := built()
	require.NoError(t, err)
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
	binary := program(t)
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
	if testing.Short() {
		t.Skip("it builds the program")
	}
	source, err := filepath.Abs("../../stage4_lua_unlock/mutex.go")
	require.NoError(t, err)
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	damaged := filepath.Join(t.TempDir(), "mutex.go")
	require.NoError(t, os.WriteFile(damaged, bytes.Replace(text, []byte("== ARGV[1]"), []byte("~= ARGV[1]"), 1), 0o600))

	binary := filepath.Join(t.TempDir(), "damaged")
	require.NoError(t, build(binary, map[string]string{source: damaged}))
	cmd := exec.Command(binary)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.Equal(t, exitFailed, status(t, cmd.Run()))
	require.Contains(t, stderr.String(), "delete-foreign on stage4: expected safe, got broken")
}

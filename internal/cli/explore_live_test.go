//go:build live && linux

package cli

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Interrupted child processes return what they know.
func TestInterruptedTableHasPartialResults(t *testing.T) {
	cmd := exec.Command(program(t), "explore", "--stage", "all", "--bound", "9")
	person, program := pseudoTerminal(t)
	cmd.Env = append(os.Environ(), "TERM=xterm")
	cmd.Stdout, cmd.Stderr = program, program
	require.NoError(t, cmd.Start())
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill(); program.Close(); person.Close() })
	defer stuck.Stop()

	shownUntil(t, person, "\x1b[K1 of ")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	shown := shownUntil(t, person, "interrupted\r\n")
	require.Regexp(t, `wake-up +leave( +·){5} +\? cut\r\n`, shown)
	require.Contains(t, shown, "Cut short: ")
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
}

//go:build live && linux

package cli

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever presses Ctrl-C, or ends the process, is told what is known so far, and what is not.
func TestExploreThatIsCutShortSaysWhatItKnows(t *testing.T) {
	binary := program(t)
	for _, c := range []struct {
		name, begun string
		args        []string
		says        string
		signal      os.Signal
	}{
		{"one search", "schedules/s", []string{"--stage", "6", "--env", "pause", "--property", "damage-fenced", "--bound", "9"},
			`stage 6, damage-fenced in pause .*\r\n  (no violation up to \d faults?|cut short before all schedules without a fault were run) \(`, os.Interrupt},
		{"a table", "\x1b[K1 of ", []string{"--stage", "all", "--bound", "9"}, `wake-up +leave( +·){5} +\? cut\r\n`, syscall.SIGTERM},
	} {
		t.Run(c.name, func(t *testing.T) {
			person, program := pseudoTerminal(t)
			cmd := exec.Command(binary, append([]string{"explore"}, c.args...)...)
			cmd.Env = append(os.Environ(), "TERM=xterm")
			cmd.Stdout, cmd.Stderr = program, program
			require.NoError(t, cmd.Start())
			stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill(); program.Close(); person.Close() })
			defer stuck.Stop()

			shownUntil(t, person, c.begun)
			require.NoError(t, cmd.Process.Signal(c.signal))
			shown := shownUntil(t, person, "on an embedded Redis.") // stands there whatever was found
			require.Regexp(t, regexp.MustCompile(c.says), shown)
			if !strings.Contains(shown, "Cut short: ") {
				shownUntil(t, person, "Cut short: ")
			}
			require.Error(t, cmd.Wait())
			require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
		})
	}
}

//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockkata/internal/term"
)

// pseudoTerminal returns both ends of a terminal: input written to person is read from program.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	return person, program
}

// shownUntil returns the output up to a text.
func shownUntil(t *testing.T, person *os.File, text string) string {
	t.Helper()
	var shown bytes.Buffer
	chunk := make([]byte, 4096)
	for !strings.Contains(shown.String(), text) {
		n, err := person.Read(chunk)
		require.NoError(t, err, "%q does not come: %s", text, shown.String())
		shown.Write(chunk[:n])
	}
	return shown.String()
}

// screenUntil returns the screen that ends with a text, from where it was cleared.
func screenUntil(t *testing.T, person *os.File, text string) string {
	t.Helper()
	upTo, _, _ := strings.Cut(shownUntil(t, person, text), text)
	return upTo[max(0, strings.LastIndex(upTo, term.Clear)):] + text
}

// A player presses single keys and sees one screen at a time. At the end the terminal is restored.
func TestPersonPlaysAtATerminal(t *testing.T) {
	binary := program(t)
	person, program := pseudoTerminal(t)
	before, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	require.NoError(t, err)
	cmd := exec.Command(binary, "play", "--stage", "3")
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	require.NoError(t, cmd.Start())
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill(); program.Close(); person.Close() })
	defer stuck.Stop()

	const end = "u undo   r restart   h hint   q quit"
	screen := screenUntil(t, person, end)
	require.True(t, strings.HasPrefix(screen, "\x1b[H\x1b[2J"), "the screen is cleared: %q", screen)
	require.Contains(t, screen, "\x1b[1mStage 3: the owner's value in the key\x1b[0m\r\n")
	for _, keys := range []string{"2", "\x1b[A", "h", "\r"} { // Redis runs B's SET; an arrow; a hint; Enter
		_, err := person.WriteString(keys)
		require.NoError(t, err)
		screen = screenUntil(t, person, end)
		require.LessOrEqual(t, strings.Count(screen, "\n"), 23)
	}
	require.Contains(t, screen, "Hint: 2. The goal is 8 steps away.")
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}))
	require.Contains(t, screenUntil(t, person, end), strings.Repeat(" ", 57)+"mutex.go", "it is drawn again for a wider window")
	_, err = person.WriteString("\x03") // Ctrl-C
	require.NoError(t, err)
	require.Contains(t, shownUntil(t, person, "/b'"), "So far: go run . replay 'v1/stage3/2c/1x/async/wrong-delete/b'")
	var status *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &status)
	require.Equal(t, exitInterrupted, status.ExitCode())
	after, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

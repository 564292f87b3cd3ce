package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stopper cancels a context as soon as a text is written to it.
type stopper struct {
	bytes.Buffer
	at   string
	stop func()
}

func (s *stopper) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	if s.at != "" && strings.Contains(s.String(), s.at) {
		s.at = ""
		s.stop()
	}
	return n, err
}

// Each command ends with status 130, and prints no result as if it had finished.
func TestInterruptedCommandEndsWithStatus130(t *testing.T) {
	for line, c := range map[string]struct{ at, not string }{ // "": before it begins
		"":                                  {"playing", "are shown"},
		"--steps --json":                    {"playing", "failure"},
		"show check-then-delete":            {"", ""},
		"list":                              {"late-unlock", ""},
		"diff 4":                            {"", ""},
		"explore --stage 6 --bound 9":       {"schedules/s", "nothing shorter"},
		"demo --hold 1m":                    {"work1  got it", "work2  got it"},
		"replay " + exampleSchedule:         {"", ""},
		"grade ../../stage4_lua_unlock":     {"compiling", "✓"},
		"play --stage 3":                    {"what next?", "So far"},
		"kata start 1 --dir " + t.TempDir(): {"Next: ", ""},
	} {
		t.Run(line, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if c.at == "" {
				stop()
			}
			nobodyTypes, _ := io.Pipe()
			out, said := &stopper{at: c.at, stop: stop}, &stopper{at: c.at, stop: stop}
			a := &app{t: t, sources: os.DirFS("../.."), in: nobodyTypes, out: out, err: said, width: usualWidth, terminal: true}
			require.Equal(t, exitInterrupted, a.runWithin(ctx, strings.Fields(line)))
			require.True(t, strings.HasSuffix(said.String(), "interrupted\n"), said)
			require.True(t, c.not == "" || !strings.Contains(out.String(), c.not), out)
		})
	}
}

// The command has started the first exercise by itself, and is compiling the lock.
func TestInterruptedKataEndsWithStatus130(t *testing.T) {
	cmd := exec.Command(program(t), "kata", "--dir", filepath.Join(t.TempDir(), "mylock"))
	_, err := cmd.StdinPipe() // stays open
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var errors strings.Builder
	cmd.Stderr = &errors
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "exercise 1: A lock at all\n", line)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, lines)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
	require.Equal(t, "interrupted\n", errors.String())
}

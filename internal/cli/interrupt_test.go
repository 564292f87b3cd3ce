package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/stages"
	"lockkata/internal/term"
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
	site := t.TempDir()
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
		"serve --addr 127.0.0.1:0":          {"playing", "shows every run"},
		"serve --out " + site:               {"building", "index.html"},
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
	written, err := os.ReadDir(site)
	require.NoError(t, err)
	require.Empty(t, written)
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

func TestDemoLetsTheSecondBeginWhenTheFirstEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	line := regexp.MustCompile(`(?m)^(\d\S+ \S+)  (work\d +\w+)`)
	for _, s := range stages.Public() {
		status, out, errors := command(t, "demo", "--stage", s.ID, "--hold", "0s", "--name", "work2")
		require.Equal(t, exitOK, status, errors)
		at := map[string]time.Time{}
		for _, said := range line.FindAllStringSubmatch(out, -1) {
			when, err := time.Parse(timestamp, said[1])
			require.NoError(t, err)
			at[said[2]] = when
		}
		require.Len(t, at, 8, out)
		require.False(t, at["work1  got"].Before(at["work2  ends"]), out)
		require.Regexp(t, `\nA waiter on stage \d (asks every 100 ms|is woken by a message)\.\n$`, out)
	}
}

func TestDemoReportsAFailedUnlock(t *testing.T) {
	server := miniredis.RunT(t)
	address := server.Addr()
	out, errors := &stopper{at: "got it", stop: server.Close}, &strings.Builder{}
	status := Run(t, nil, nil, out, errors, "demo", "--redis", address, "--stage", "4", "--hold", "0s")
	require.Equal(t, exitFailed, status, errors.String())
	require.NotContains(t, out.String(), "unlocked")
	require.Contains(t, out.String(), "In another terminal: go run . demo --stage 4 --name work2 --hold 0s --redis "+address+"\n")
	require.Contains(t, errors.String(), "work1: stage4: unlock lock:userId: ")
}

// onTerminal returns an app with a terminal of that width, and its output.
func onTerminal(t *testing.T, width int) (a *app, out, errors *strings.Builder) {
	out, errors = &strings.Builder{}, &strings.Builder{}
	return &app{t: t, sources: os.DirFS("../.."), out: out, err: errors, width: width}, out, errors
}

// requireColumns requires that no line is wider.
func requireColumns(t *testing.T, width int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), width, line)
	}
}

//go:build live

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/stages"
)

func TestLiveMatrixOnServersOfItsOwn(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("no redis-server is installed")
	}
	fewFailures(t, "second-client", "script-flush", "clock-jump")
	status, out, errors := command(t, "--live", "--all")
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "on real redis-server processes")
	require.Regexp(t, `(?m)^  second-client +✓  ✓  ✓  ✓`, out)
	require.Regexp(t, `(?m)^  clock-jump +·  ·  ·  ·`, out)
	require.Contains(t, out, "world only")
}

// terminal is a demo that runs in a process of its own.
type terminal struct {
	cmd    *exec.Cmd
	pipe   *bufio.Reader // of its lines
	out    string
	errors bytes.Buffer
}

func startDemo(t *testing.T, args ...string) *terminal {
	t.Helper()
	p := &terminal{cmd: exec.Command(program(t), append([]string{"demo"}, args...)...)}
	pipe, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.pipe = bufio.NewReader(pipe)
	p.cmd.Stderr = &p.errors
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // nothing to do where it has ended
	return p
}

// until waits for a line of the process's.
func (p *terminal) until(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(p.out, text) {
		line, err := p.pipe.ReadString('\n')
		p.out += line
		require.NoError(t, err, "%s%s", p.out, &p.errors)
	}
}

// end waits for the end of the process and returns its exit status.
func (p *terminal) end(t *testing.T) int {
	t.Helper()
	rest, err := io.ReadAll(p.pipe)
	require.NoError(t, err)
	p.out += string(rest)
	_ = p.cmd.Wait() // the status tells
	return p.cmd.ProcessState.ExitCode()
}

// Three terminals use one server. The interrupted holder unlocks, and the next worker begins.
func TestDemoInProcessesOnRealRedis(t *testing.T) {
	addr := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort}).Addr()
	for _, s := range stages.Public() {
		t.Run(s.Dir, func(t *testing.T) {
			args := []string{"--stage", s.ID, "--redis", addr}
			holder := startDemo(t, append(args, "--hold", "1m")...)
			holder.until(t, "got it")
			require.Contains(t, holder.out, fmt.Sprintf("In another terminal: go run . demo --stage %s --name work2 ", s.ID))
			waiter := startDemo(t, append(args, "--name", "work2")...)
			next := startDemo(t, append(args, "--name", "work3", "--hold", "0s")...)
			waiter.until(t, "asks for the lock")
			next.until(t, "asks for the lock")

			require.NoError(t, waiter.cmd.Process.Signal(os.Interrupt))
			require.Equal(t, exitInterrupted, waiter.end(t))
			require.NotContains(t, waiter.out, "got it")
			require.NoError(t, holder.cmd.Process.Signal(os.Interrupt))
			require.Equal(t, exitInterrupted, holder.end(t))
			require.Regexp(t, `ends after .*, unlocks\n.*unlocked\n$`, holder.out)
			require.Equal(t, "interrupted\n", holder.errors.String())

			require.Equal(t, exitOK, next.end(t), next.errors.String())
			_, at := linesOf(t, holder.out, "work1")
			began, _ := requireStory(t, next.out, "work3")
			require.False(t, began.Before(at[2]), "%s%s", holder.out, next.out)
		})
	}
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	keys, err := rdb.Exists(t.Context(), "lock:userId", "lock:{userId}").Result()
	require.NoError(t, err)
	require.Zero(t, keys)
}

func TestInterruptedDemoEndsBothWorkers(t *testing.T) {
	both := startDemo(t, "--stage", "6", "--hold", "1m")
	both.until(t, "work2  asks for the lock")
	require.NoError(t, both.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, both.end(t))
	require.Contains(t, both.out, "work1  unlocked")
	require.NotContains(t, both.out, "work2  got it")
}

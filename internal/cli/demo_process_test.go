package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
	"lockkata/internal/stages"
)

// await reads until a line contains the text, and returns what it read. It returns
// false when there is nothing more to read.
func await(from *bufio.Reader, text string) (read string, found bool) {
	for {
		line, err := from.ReadString('\n')
		read += line
		if strings.Contains(line, text) || err != nil {
			return read, err == nil
		}
	}
}

// terminal is a demo that runs in a process of its own.
type terminal struct {
	cmd    *exec.Cmd
	pipe   *bufio.Reader // of its lines
	out    string
	errors bytes.Buffer
}

func startDemo(t *testing.T, binary string, args ...string) *terminal {
	t.Helper()
	p := &terminal{cmd: exec.Command(binary, append([]string{"demo"}, args...)...)}
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
	read, found := await(p.pipe, text)
	p.out += read
	require.True(t, found, "%s%s", p.out, &p.errors)
}

// end waits for the end of the process and returns its exit status.
func (p *terminal) end(t *testing.T) int {
	t.Helper()
	rest, err := io.ReadAll(p.pipe)
	require.NoError(t, err)
	p.out += string(rest)
	return status(t, p.cmd.Wait())
}

func TestDemoInTwoProcessesOnRealRedis(t *testing.T) {
	addr := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort}).Addr()
	binary := program(t)
	for _, s := range stages.All {
		t.Run(s.Dir, func(t *testing.T) {
			args := []string{"--stage", strconv.Itoa(s.Number), "--hold", "200ms", "--redis", addr}
			first := startDemo(t, binary, append(args, "--name", "work1")...)
			first.until(t, "got it")
			second := startDemo(t, binary, append(args, "--name", "work2")...)
			require.Equal(t, exitOK, first.end(t), first.errors.String())
			require.Equal(t, exitOK, second.end(t), second.errors.String())
			require.Contains(t, first.out, fmt.Sprintf("In another terminal: go run . demo --stage %d --name work2 --hold 200ms --redis %s", s.Number, addr))
			_, ended := requireStory(t, first.out, "work1")
			began, _ := requireStory(t, second.out, "work2")
			require.False(t, began.Before(ended), "%s%s", first.out, second.out)
		})
	}
}

func TestDemoThatIsInterruptedFreesTheLock(t *testing.T) {
	addr := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort}).Addr()
	binary := program(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	for _, s := range stages.All {
		t.Run(s.Dir, func(t *testing.T) {
			args := []string{"--stage", strconv.Itoa(s.Number), "--hold", "1m", "--wait", "1m", "--redis", addr}
			holder := startDemo(t, binary, args...)
			holder.until(t, "got it")
			waiter := startDemo(t, binary, append(args, "--name", "work2")...)
			waiter.until(t, "asks for the lock")

			require.NoError(t, waiter.cmd.Process.Signal(os.Interrupt))
			require.Equal(t, exitFailed, waiter.end(t))
			require.Contains(t, waiter.out, "is interrupted, and does not have the lock")
			require.NoError(t, holder.cmd.Process.Signal(os.Interrupt))
			require.Equal(t, exitFailed, holder.end(t))
			require.Regexp(t, `is interrupted after .*, unlocks\n.*unlocked\n$`, holder.out)
			require.Equal(t, "interrupted\n", holder.errors.String())

			keys, err := rdb.Exists(t.Context(), "lock:userId", "lock:{userId}").Result()
			require.NoError(t, err)
			require.Zero(t, keys)
		})
	}
}

func TestDemoThatIsInterruptedEndsBothWorkers(t *testing.T) {
	both := startDemo(t, program(t), "--stage", "6", "--hold", "1m", "--wait", "1m")
	both.until(t, "work2  asks for the lock")
	require.NoError(t, both.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitFailed, both.end(t))
	require.Contains(t, both.out, "work2  is interrupted, and does not have the lock")
	require.Contains(t, both.out, "work1  unlocked")
}

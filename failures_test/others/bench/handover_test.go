//go:build live

package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// workerEnv has the library and the address for a worker process.
const workerEnv = "LOCKKATA_BENCH_WORKER"

func TestMain(m *testing.M) {
	kind, addr, isWorker := strings.Cut(os.Getenv(workerEnv), "@")
	if !isWorker {
		os.Exit(m.Run())
	}
	l, err := dial(kind, addr, 0)
	if err == nil {
		err = work(l, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work locks and unlocks in turn, once for each line of in. It prints when Lock returned or Unlock
// was called, in nanoseconds of the machine's clock. An error is its last line.
func work(l locker, in io.Reader, out io.Writer) error {
	lock, err := l.mutex("order:1001")
	if err != nil {
		return err
	}
	var h hold
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var at time.Time
		if h == nil {
			h, err = l.bounded(lock)
			at = time.Now()
		} else {
			at = time.Now()
			err, h = h.Unlock(), nil
		}
		if err != nil {
			_, err = fmt.Fprintln(out, err)
			return err
		}
		fmt.Fprintln(out, at.UnixNano())
	}
	return nil
}

// worker sends lines to work and reads its output.
type worker struct {
	in  io.Writer
	out *bufio.Reader
}

// start starts a worker in another process, or on a goroutine if process is nil.
func start(t testing.TB, l locker, process *exec.Cmd) worker {
	t.Helper()
	if process == nil {
		orders, in := io.Pipe()
		out, answers := io.Pipe()
		go func() { answers.CloseWithError(errors.Join(work(l, orders, answers), io.EOF)) }()
		t.Cleanup(func() { in.Close() })
		return worker{in, bufio.NewReader(out)}
	}
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	require.NoError(t, err)
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		require.NoError(t, in.Close())
		require.NoError(t, process.Wait())
	})
	return worker{in, bufio.NewReader(out)}
}

// next tells the worker to lock or to unlock.
func (w worker) next(t testing.TB) {
	_, err := fmt.Fprintln(w.in)
	require.NoError(t, err)
}

// done returns when Lock returned or Unlock was called. It fails the test with an error of the worker.
func (w worker) done(t testing.TB) time.Time {
	line, err := w.out.ReadString('\n')
	require.NoError(t, err)
	line = strings.TrimSpace(line)
	nanoseconds, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		t.Fatal(line)
	}
	return time.Unix(0, nanoseconds)
}

// couple is two workers, one of which holds the lock.
type couple struct {
	holder, waiter worker
	polls          bool
}

func newCouple(t testing.TB, kind string, processes int) *couple {
	t.Helper()
	server := startServer(t)
	c := &couple{polls: kind == redislockLock || kind == redsyncLock}
	if processes == 1 {
		l := open(t, kind, server, 0)
		c.holder, c.waiter = start(t, l, nil), start(t, l, nil)
	} else {
		for _, w := range []*worker{&c.holder, &c.waiter} {
			process := exec.Command(os.Args[0])
			process.Env = append(os.Environ(), workerEnv+"="+kind+"@"+server.Addr())
			*w = start(t, locker{}, process)
		}
	}
	c.holder.next(t)
	c.holder.done(t)
	return c
}

// handOver passes the lock to the waiter and returns the time from the call of Unlock to the return
// of Lock.
func (c *couple) handOver(t testing.TB) time.Duration {
	c.waiter.next(t)
	// Wait until the waiter waits. If it polls, wait for a random time as long as a pause between
	// polls, so that the Unlock falls on any point of a pause.
	if c.polls {
		time.Sleep(10*time.Millisecond + rand.N(100*time.Millisecond))
	} else {
		time.Sleep(4*time.Millisecond + rand.N(2*time.Millisecond))
	}
	c.holder.next(t)
	unlocked, locked := c.holder.done(t), c.waiter.done(t)
	c.holder, c.waiter = c.waiter, c.holder
	return locked.Sub(unlocked)
}

// A waiter of stage 6 that polled would take tens of milliseconds.
func TestStage6HandsOverFasterThanALockThatPolls(t *testing.T) {
	for _, processes := range []int{1, 2} {
		total := map[string]time.Duration{}
		for _, kind := range []string{stage6Lock, redislockLock} {
			c := newCouple(t, kind, processes)
			for range 10 {
				total[kind] += c.handOver(t)
			}
		}
		require.Less(t, total[stage6Lock], total[redislockLock]/2, "%d processes", processes)
	}
}

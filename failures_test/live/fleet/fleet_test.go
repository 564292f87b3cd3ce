//go:build live

package fleet_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/live/fleet"
)

// task is the task of a worker.
type task struct{ Do string }

func TestMain(m *testing.M) {
	fleet.Serve(work)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.Exit(max(code, fleet.Running())) }))
}

func work(t task, orders <-chan string, tell func(any)) error {
	switch t.Do {
	case "fail":
		tell("one last word")
		return errors.New("it could not")
	case "lead": // starts a worker, stops it, and reports its process id
		w, err := fleet.Start(fleet.Again(task{"echo"}))
		if err != nil {
			return err
		}
		var pid int
		if err := errors.Join(w.Hear(&pid), w.Stop()); err != nil {
			return err
		}
		tell(pid)
		<-orders
	}
	tell(os.Getpid())
	for o := range orders {
		tell("heard " + o)
	}
	return nil
}

// start starts a worker that is killed with the test.
func start(t *testing.T, cmd *exec.Cmd) *fleet.Process {
	t.Helper()
	w, err := fleet.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(w.Kill)
	return w
}

// hear returns the next line of a worker.
func hear[T any](t *testing.T, w *fleet.Process) (v T) {
	t.Helper()
	require.NoError(t, w.Hear(&v))
	return v
}

func TestWorkerAnswersOrdersUntilKilled(t *testing.T) {
	w := start(t, fleet.Again(task{"echo"}))
	require.NotEqual(t, os.Getpid(), hear[int](t, w))
	for _, o := range []string{"one", "two"} {
		require.NoError(t, w.Tell(o))
		require.Equal(t, "heard "+o, hear[string](t, w))
	}
	w.Kill()
	require.NoError(t, w.Wait(), "Kill is not an error")
	require.ErrorIs(t, w.Hear(new(string)), fleet.ErrEnded)
	require.Error(t, w.Tell("three"))
}

func TestOutputCanBeReadAfterTheEnd(t *testing.T) {
	w := start(t, fleet.Again(task{"fail"}))
	require.ErrorContains(t, w.Wait(), "exit status 1: it could not")
	require.Equal(t, "one last word", hear[string](t, w))
	err := w.Hear(new(string))
	require.ErrorIs(t, err, fleet.ErrEnded)
	require.ErrorContains(t, err, "it could not")
}

func TestStoppedWorkerContinuesAndCanBeKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot stop a process")
	}
	w := start(t, fleet.Again(task{"echo"}))
	hear[int](t, w)
	require.NoError(t, w.Stop())
	time.Sleep(100 * time.Millisecond) // the signal takes a moment
	require.NoError(t, w.Tell("one"))
	answer := make(chan string, 1)
	go func() { answer <- hear[string](t, w) }()
	select {
	case <-answer:
		require.Fail(t, "it answers")
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, w.Continue())
	require.Equal(t, "heard one", <-answer)
	require.NoError(t, w.Stop())
	w.Kill()
	require.NoError(t, w.Wait(), "Kill is not an error")
}

func TestStoppedWorkerEndsWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills a stopped process with its parent")
	}
	leader := start(t, fleet.Again(task{"lead"}))
	stat := fmt.Sprintf("/proc/%d/stat", hear[int](t, leader))
	require.FileExists(t, stat)
	leader.Kill()
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(stat) // without a Wait the process may stay as a zombie
		return err != nil || regexp.MustCompile(`\) Z `).Match(raw)
	}, time.Minute, time.Millisecond)
}

func TestAnyCommandWithAnyOutput(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.list", "TestAnyCommand")
	w := start(t, cmd)
	line, err := w.HearLine()
	require.NoError(t, err)
	require.Equal(t, t.Name(), line)
	_, err = w.HearLine()
	require.ErrorIs(t, err, fleet.ErrEnded)
	require.Error(t, start(t, fleet.Again(task{"echo"})).Hear(new(string)), "a number is not a string")
	_, err = fleet.Start(exec.Command("there-is-no-such-command"))
	require.ErrorIs(t, err, exec.ErrNotFound)
}

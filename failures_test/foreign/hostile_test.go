//go:build languages && unix

package foreign_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/foreign"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/redisserver"
)

// learn returns the error of a worker that is of no use.
func learn(t *testing.T, s *live.Servers, shared bool, command ...string) error {
	t.Helper()
	b, err := foreign.New(t.Context(), s, foreign.Worker{Command: command, Shared: shared})
	if err == nil {
		_, err = b.Learn(t.Context())
		require.NoError(t, b.Close())
	}
	require.Zero(t, fleet.Running()-1, "only the server is left")
	requireNoSleeper(t)
	return err
}

// requireNoSleeper requires that no process is left that a worker has started in the background.
func requireNoSleeper(t *testing.T) {
	t.Helper()
	require.Error(t, exec.Command("pgrep", "-f", "^sleep 1000$").Run(), "a process is left")
}

func TestUselessWorkerGetsOneClearLine(t *testing.T) {
	s, err := live.Start(t.Context(), 1)
	redisserver.Need(t, err)
	defer s.Close()
	for script, says := range map[string]string{
		"echo sorry >&2; exit 3":   "the worker ended before it said ready 1; it wrote: sorry",
		"echo hello; cat":          `the worker has to say ready 1 first, but printed "hello"`,
		"echo ready 2; cat":        `the worker has to say ready 1 first, but printed "ready 2"`,
		"echo ready 1 shared; cat": "the worker says ready 1 shared: add --shared",
		"cat /dev/zero":            "the worker has to say ready 1 first, but printed \"\\x00",
		"echo ready 1; echo I am lost >&2; cat >/dev/null":                    `the worker has not answered "1 lock A 2000"; it wrote: I am lost`,
		"echo ready 1; read line; echo 1 True; cat >/dev/null":                `the worker has not answered "1 lock A 2000", but printed "1 True"`,
		"echo ready 1; while read id rest; do echo $id yes; done":             "the worker has sent nothing to the address in LOCK_REDIS",
		"echo ready 1; while read id rest; do echo $id unknown no hold; done": "the lock fails in normal use: Lock: no hold",
		"echo ready 1; read line; echo bye >&2; exit 1":                       "the worker has ended; it wrote: bye",
		"sleep 1000 & echo ready 1; exit":                                     "the worker has ended",
		"sleep 1000 & echo never":                                             "the worker has to say ready 1 first, but printed \"never\"",
	} {
		t.Run(script, func(t *testing.T) {
			began := time.Now()
			err := learn(t, s, false, "sh", "-c", script)
			require.Error(t, err)
			require.True(t, strings.HasPrefix(err.Error(), says), err)
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, time.Since(began), 20*time.Second)
		})
	}
	require.ErrorContains(t, learn(t, s, false, "there-is-no-such-worker"), "the worker does not start: ")
	require.ErrorContains(t, learn(t, s, true, "sh", "-c", "echo ready 1; cat"), `with --shared the worker has to say ready 1 shared, but it printed "ready 1"`)
}

// Fifty connections, output, and a process that it leaves behind do not change the verdict on a worker.
func TestNoisyWorkerIsJudgedAsAnyOther(t *testing.T) {
	noise := `for i in $(seq 50); do exec {fd}<>/dev/tcp/${LOCK_REDIS/://}; done; sleep 1000 & echo nobody asked >&2; exec "$0" "$@"`
	w := stage(t, "3")
	w.Command = append([]string{"bash", "-c", noise}, w.Command...)
	cells := play(t, w, "check-then-delete", "delete-foreign")
	require.Equal(t, failures.Broken, cells["check-then-delete"].Outcome, cells["check-then-delete"].Sentence())
	require.Equal(t, failures.Safe, cells["delete-foreign"].Outcome, cells["delete-foreign"].Sentence())
	requireNoSleeper(t)
}

func TestNoWorkerIsLeftByAnInterruptedRun(t *testing.T) {
	t.Cleanup(func() { // the runs that were left end without their servers
		var left error
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if left = goleak.Find(); left == nil {
				return
			}
		}
		require.NoError(t, left)
	})
	ctx, stop := context.WithCancel(t.Context())
	b := bench(t, stage(t, "3"))
	_, err := b.Learn(ctx)
	require.NoError(t, err)
	time.AfterFunc(2*time.Second, stop)
	err = b.Play(ctx, failures.Tasks(catalogue.OfLocks()[:6]), func(failures.Cell) { require.Fail(t, "a verdict of an interrupted run") })
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, b.Close())
	require.Eventually(t, func() bool { return fleet.Running() == 6 }, 10*time.Second, 10*time.Millisecond, "only the servers are left")
}

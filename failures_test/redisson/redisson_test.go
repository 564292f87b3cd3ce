package main

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/redisserver"
)

func TestMain(m *testing.M) {
	holdUntilKilled()
	goleak.VerifyTestMain(m)
}

// built builds the Java side and returns the folder. Where Java or Maven is
// missing the test is skipped; where redis-server is, not in CI.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Java processes: not with -short")
	}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("there is no " + tool + ": install a JDK 17 and Maven to see stage 6 and Redisson share a lock")
		}
	}
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
		t.Skip(redisserver.ErrMissing)
	}
	said, err := exec.CommandContext(t.Context(), "./run", "build").CombinedOutput()
	require.NoError(t, err, string(said))
	return "target"
}

func arenaForTest(t *testing.T, target string, m mode) *arena {
	t.Helper()
	a, err := newArena(t.Context(), target, m)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

func TestStage6AndRedissonShareALock(t *testing.T) {
	target := built(t)
	for _, p := range plays {
		t.Run(p.title, func(t *testing.T) {
			a := arenaForTest(t, target, p.mode)
			err := a.runChecks(t.Context(), p.variant, p.checks, 9, everyCheck, func(r result) {
				r.print(t.Output())
				require.NoError(t, r.Err, r.ID)
			})
			require.NoError(t, err)
		})
	}
}

// Without this the checks could be ones that nothing fails.
func TestEachMistakeIsConvicted(t *testing.T) {
	a := arenaForTest(t, built(t), single)
	for _, v := range mutants {
		t.Run(v.Name, func(t *testing.T) { isConvicted(t, a, v) })
	}
}

// Redisson's default in a Cluster is sharded pub/sub, which PUBLISH does not reach.
func TestPlainMessagesInAClusterAreConvicted(t *testing.T) {
	v := faithful
	v.Convicts = []string{"wake-up Go", "wake-up Redisson"}
	isConvicted(t, arenaForTest(t, built(t), cluster), v)
}

// isConvicted runs the checks that have to be red. Where a waiter came just too
// late for a message that it would not have heard, a check is green by luck, and is
// run again.
func isConvicted(t *testing.T, a *arena, v variant) {
	t.Helper()
	red := map[string]bool{}
	for range 3 {
		isOpen := func(id string) bool { return slices.Contains(v.Convicts, id) && !red[id] }
		if !slices.ContainsFunc(v.Convicts, isOpen) {
			break
		}
		err := a.runChecks(t.Context(), v, checks, 1, isOpen, func(r result) {
			r.print(t.Output())
			red[r.ID] = r.Err != nil
		})
		require.NoError(t, err)
	}
	for _, id := range v.Convicts {
		require.True(t, red[id], "%s is not red", id)
	}
}

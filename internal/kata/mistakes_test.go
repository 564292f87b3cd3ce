package kata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first line of a result names the rule that the lock breaks. With the tag live,
// TestLearnerClimbsWithOneLockThatGrows makes all mistakes.
func TestMistakeIsExplainedByWhatItBreaks(t *testing.T) {
	for _, m := range mistakes() {
		if m.says == "" || sample == nil || !inSample(m.exercise, m.name) {
			continue
		}
		t.Run(m.exercise+": "+m.name, func(t *testing.T) {
			if !m.compiles() {
				_, err := Build(t.Context(), repositoryRoot(t), m.files())
				require.ErrorContains(t, err, m.says)
				return
			}
			r := checked(t, exercise(t, m.exercise), m.files())
			first := strings.Split(r.Screen(View{Width: 200}), "\n")[2]
			require.LessOrEqual(t, strings.Count(r.Screen(View{Width: 80}), "\n"), 60)
			require.False(t, r.Passed)
			require.True(t, strings.HasPrefix(first, m.says), first)
		})
	}
}

func TestLockThatCannotBePlayedIsExplained(t *testing.T) {
	for text, says := range map[string]string{
		"//go:build linux && never\n\npackage mylock\n":       "it does not compile: mutex.go:1: a build tag, or the file's name, excludes it",
		"package mylock\n\nfunc Subject() int { return 1 }\n": "the failures cannot call it: the failures need func Subject() failures.Subject: cannot use ",
		"package mylock\n\nfunc NewMutex() {}\n":              "the failures cannot call it: the failures need func NewMutex(rdb redis.UniversalClient, ",
	} {
		_, err := Build(t.Context(), repositoryRoot(t), Files{"mutex.go": text})
		var found *CompileError
		require.ErrorAs(t, err, &found)
		require.Contains(t, found.Kind().Args().Error()+": "+found.Error(), says)
	}
}

func TestResultNamesTheLineAndFailuresThatAreNotRequired(t *testing.T) {
	e := exercise(t, "3")
	screen := checked(t, e, filesOf(t, e.Start)).Screen(View{Width: 120})
	require.Regexp(t, `✗ wrong delete: A's DEL removes the lock of B \(B1\) \(mylock/mutex\.go:\d+\)\n\nScenario delete-foreign: A calls Lock\(\) · `, screen)
	require.Contains(t, screen, "(given) broken exclusion: B is inside the lock while A still is")
	require.NotContains(t, screen, "removes the lock of B (B1) (not part")
}

func TestEndlessRecursionNamesTheRecursiveCall(t *testing.T) {
	stack := "runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow\n\ngoroutine 9 [running]:\n"
	for _, at := range []string{"51", "53", "53"} {
		stack += "locks/lock0/mylock.(*Mutex).TryLock(...)\n\t/go/locks/lock0/mylock/mutex.go:" + at + " +0x1d\n"
	}
	_, line := crash(stack, "locks/lock0/mylock")
	require.Equal(t, "mylock/mutex.go:53", line)
	_, line = crash(strings.ReplaceAll(stack, "goroutine stack exceeds", "something else"), "locks/lock0/mylock")
	require.Equal(t, "mylock/mutex.go:51", line)
}

func TestLongDrawingIsShortened(t *testing.T) {
	for found, says := range map[int]string{5: "line 39\n⋮ 60 lines left out: go run . kata check --all\n\n", 98: "line 9\n⋮ 60 lines left out: go run . kata check --all\nline 70\n"} {
		drawing := ""
		for n := range 100 {
			drawing += fmt.Sprintf("line %d\n", n)
		}
		drawing = strings.Replace(drawing, fmt.Sprintf("line %d\n", found), "✗ leak: forever\n", 1) + "\n"
		require.Contains(t, View{}.shortened(drawing, "leak"), says)
		require.Contains(t, View{}.shortened(drawing, "leak"), "✗ leak: forever\n")
		require.Equal(t, drawing, View{All: true}.shortened(drawing, "leak"))
	}
}

func TestCheckThatEndsTooEarlyIsReported(t *testing.T) {
	require.Contains(t, Result{Exercise: exercise(t, "3")}.Screen(View{Width: 120}), "Not all failures were played within 30s")
}

func TestSearchReportsALockThatDecidesAtRandom(t *testing.T) {
	r := Result{Exercise: exercise(t, "3"), Passed: true, Report: Report{Differs: "v1/mylock/b.B"}}
	require.Contains(t, r.Screen(View{Width: 120}), "One schedule did not go the same way twice, so the search left it out: v1/mylock/b.B.")
}

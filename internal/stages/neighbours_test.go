package stages_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/edits"
	"lockkata/internal/stages"
)

// lessons are the declarations in which a lock differs from the one before. All others must be
// the same, in each file in the same order.
var lessons = map[string][]string{
	"2": {"TryLock"},
	"3": {"ErrNotHeld", "Mutex", "TryLock", "Unlock"},
	"4": {"unlockScript", "Unlock"},
	"5": {
		"Mutex", "NewMutex", "TryLock", "Unlock",
		"shortestRenewed", "Option", "WithoutWatchdog", "renewScript", "watchdog", "start", "stop", "renew",
	},
	"6.1": {
		"ErrLocked", "ErrNotHeld", "ErrLost", "isWrongType", "Mutex", "NewMutex", "TryLock", "Lock", "Hold", "newHold", "Context", "Unlock",
		"WithoutWatchdog", "watchdog", "start", "watch", "lose", "stop", "renew",
	},
	"6.2": {
		"Mutex", "NewMutex", "TryLock", "Lock", "Hold", "Unlock", "attempts", "refusals", "isRefusal", "isUnknown", "ended", "free", "cleanUp",
		"sender", "once", "NoRetry", "Do", "EvalSha", "Eval", "eval",
	},
	"6.3": {
		"unlockScript", "acquireScript", "countScript", "renewScript", "TryLock", "Lock",
		"Hold", "holdKey", "newHold", "carried", "Context", "Unlock",
		"ownership", "newOwnership", "reenter", "set", "HoldCount", "free", "setCount", "cleanUp", "watchdog",
	},
	"6.4": {"keyPrefix", "keyPrefix, pollInterval", "acquireScript", "TryLock", "try", "Lock", "countScript"},
	"6.5": {"acquireScript", "try", "Token", "Unlock", "ownership", "newOwnership", "countScript", "set", "setCount", "forceScript", "ForceUnlock"},
}

func TestNeighboursDifferInTheirLessonOnly(t *testing.T) {
	for _, s := range stages.Table {
		lesson, ok := lessons[s.ID]
		if !ok {
			continue // the first, or a rewrite
		}
		t.Run(s.Dir, func(t *testing.T) {
			before, after := locks(t, stages.MustFind(s.Before)), locks(t, s)
			both := maps.Clone(before)
			maps.Copy(both, after)
			var differ []string
			for file := range both {
				differ = append(differ, differences(before[file], after[file])...)
				require.Equal(t, common(before[file], after[file]), common(after[file], before[file]), "the order in %s", file)
			}
			slices.Sort(differ)
			require.ElementsMatch(t, lesson, slices.Compact(differ))
		})
	}
}

// A step can be read in ten minutes.
func TestStepsAreSmall(t *testing.T) {
	for _, s := range stages.Steps() {
		if s.Hidden {
			added, removed, err := s.Changed(os.DirFS("../.."))
			require.NoError(t, err)
			t.Logf("%s: %d lines of code added, %d removed", s.ID, added, removed)
			require.LessOrEqual(t, added, 130, s.ID)
		}
	}
}

// Each step fixes at least two failures that broke the lock before or did not apply to it, and
// breaks none that the lock before survived.
func TestEachStepFixesTwoFailures(t *testing.T) {
	for _, s := range stages.Steps() {
		if !s.Hidden {
			continue
		}
		var turned []string
		for _, f := range catalogue.All {
			was, is := stages.MustFind(s.Before).Expect(f), s.Expect(f)
			if (was == failures.Broken || was == failures.NotApplicable) && (is == failures.Safe || is == failures.Noticed) {
				turned = append(turned, fmt.Sprintf("%s %c%c", f.ID, was, is))
			}
			require.False(t, (was == failures.Safe || was == failures.Noticed) && is == failures.Broken, "%s: %s breaks it", s.ID, f.ID)
		}
		t.Logf("%s: %s", s.ID, strings.Join(turned, ", "))
		require.GreaterOrEqual(t, len(turned), 2, s.ID)
	}
}

// This tests the test: a difference outside the lesson is found.
func TestDriftBetweenNeighboursIsFound(t *testing.T) {
	source := read(t, "stage3_owner_value/mutex.go")
	drifted := strings.Replace(source, "100 * time.Millisecond", "101 * time.Millisecond", 1)
	require.Equal(t, []string{"keyPrefix, pollInterval"}, differences(lock(t, source), lock(t, drifted)))
	comment := strings.Replace(source, "A Mutex is one owner", "A Mutex is an owner", 1)
	require.Equal(t, []string{"Mutex"}, differences(lock(t, source), lock(t, comment)))
}

func read(t *testing.T, file string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	require.NoError(t, err)
	return string(source)
}

var stageName = regexp.MustCompile(`stage[1-9]`)

// locks returns the declarations of a stage's lock, file by file.
func locks(t *testing.T, c stages.Stage) map[string][]edits.Declaration {
	t.Helper()
	code, err := c.Code(os.DirFS("../.."))
	require.NoError(t, err)
	files := map[string][]edits.Declaration{}
	for _, f := range code.Files {
		files[f.Name] = lock(t, f.Text)
	}
	return files
}

// lock returns the declarations of a file, without the stage's own name.
func lock(t *testing.T, source string) []edits.Declaration {
	t.Helper()
	all, err := edits.Declarations(stageName.ReplaceAllString(source, "stage"))
	require.NoError(t, err)
	return all
}

// differences returns the names that do not have the same text in both files.
func differences(before, after []edits.Declaration) []string {
	var names []string
	for _, d := range slices.Concat(before, after) {
		if (!slices.Contains(before, d) || !slices.Contains(after, d)) && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// common returns the names in a that b has too, in a's order.
func common(a, b []edits.Declaration) []string {
	var names []string
	for _, d := range a {
		if slices.ContainsFunc(b, func(o edits.Declaration) bool { return o.Name == d.Name }) {
			names = append(names, d.Name)
		}
	}
	return names
}

//go:build live

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/kata"
)

// A lock in its own module writes the file of expected outcomes. The same lock with one more
// mistake, outside any module, differs in exactly that.
func TestGradeOfALockInAModuleOfItsOwnAndInNone(t *testing.T) {
	dir := module(t, "", "", map[string]string{"go.mod": modFile("")})
	golden, lock := filepath.Join(dir, "card.txt"), filepath.Join(dir, "lock")
	status, out, errors := command(t, "grade", lock, "--json", "--expect", golden, "--update")
	require.Equal(t, exitOK, status, errors)
	var card kata.Card
	require.NoError(t, json.Unmarshal([]byte(out), &card))
	outcomes := map[string]string{}
	for _, c := range card.Cells {
		outcomes[c.Failure.ID] = c.Outcome.String()
		require.Empty(t, c.Again, "%s flips", c.Failure.ID)
	}
	require.Len(t, outcomes, len(failures.OfLocks()))
	require.Equal(t, "broken", outcomes["work-outlives-ttl"])
	require.Equal(t, "safe", outcomes["check-then-delete"])

	wrong := filepath.Join(module(t, "deleted == 0", "deleted < 0", nil), "lock")
	narrow, screen, said := onTerminal(t, 80)
	require.Equal(t, exitFailed, narrow.run([]string{"grade", wrong, "--expect", golden, "--lang", "zh"}))
	require.Regexp(t, `(?m)^  ✓ check-then-delete +没有违反规则$`, screen)
	require.Contains(t, said.String(), "loss-hidden-at-unlock 的结果是“失效”，文件里是“安全”：隐瞒丢锁：Unlock 返回 nil，其实 A")
	require.NotContains(t, said.String(), "second-client")
	require.Empty(t, englishIn(screen.String()+said.String()))
	requireColumns(t, 80, screen.String())

	narrow, screen, _ = onTerminal(t, 80)
	narrow.gradeText(card)
	requireColumns(t, 80, screen.String())
	require.Contains(t, screen.String(), "→ the runs show more features: --has scripts")
	require.Regexp(t, `(?m)^  ✓ safe \d+: (.+\n)+  – not applicable \d+: `, screen)
}

// The adapter is in a module that requires this repository by a replace directive.
func TestGradeOfASubjectWithRequireAndReplace(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := module(t, "", "", map[string]string{
		"go.mod": modFile(fmt.Sprintf("require lockkata v0.0.0\n\nreplace lockkata => %q\n", root)),
		"lock/subject.go": `package lock

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
)

func Subject() failures.Subject {
	return failures.Subject{Name: "shop", New: adapters.Plain(NewMutex), Has: []failures.Feature{failures.Scripts}}
}
`,
	})
	status, out, errors := command(t, "grade", filepath.Join(dir, "lock"))
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "✓ script-flush")
}

// A lock over several servers gets the failures of RedLock, and no others.
func TestGradeOfALockOverSeveralServers(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := module(t, "", "", map[string]string{
		"go.mod": modFile(fmt.Sprintf("require lockkata v0.0.0\n\nreplace lockkata => %q\n", root)),
		"lock/subject.go": `package lock

import (
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/documents/redlock"
)

func Subject() failures.Subject {
	return failures.Subject{Name: "over five", NewOver: func(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (failures.Locker, error) {
		return redlock.New(nodes, name, lease, random), nil
	}}
}
`,
	})
	golden := filepath.Join(dir, "card.txt")
	status, out, errors := command(t, "grade", filepath.Join(dir, "lock"), "--expect", golden, "--update")
	require.Equal(t, exitOK, status, errors)
	require.NotContains(t, out, "not tried")
	raw, err := os.ReadFile(golden)
	require.NoError(t, err)
	var want strings.Builder
	for _, f := range failures.OfRedLock {
		fmt.Fprintf(&want, "%s: %s\n", f.ID, failures.Expected("redlock")(f))
	}
	require.Equal(t, want.String(), string(raw))
}

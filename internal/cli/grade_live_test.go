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
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
)

// A lock in its own module writes the file of expected outcomes. The same lock with one more
// mistake, outside any module, differs in exactly that.
func TestGradeOfALockInAModuleOfItsOwnAndInNone(t *testing.T) {
	dir := module(t, "", "", map[string]string{"go.mod": modFile("")})
	golden, lock := filepath.Join(dir, "card.txt"), filepath.Join(dir, "lock")
	status, out, errors := command(t, "grade", lock, "--json", "--expect", golden, "--update")
	require.Equal(t, exitOK, status, errors)
	var card apart.Card
	require.NoError(t, json.Unmarshal([]byte(out), &card))
	outcomes := map[string]string{}
	for _, c := range card.Cells {
		outcomes[c.Failure.ID] = c.Outcome.String()
		require.Empty(t, c.Again, "%s flips", c.Failure.ID)
	}
	require.Len(t, outcomes, len(catalogue.OfLocks()))
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
	require.Regexp(t, `(?m)^  ✓ safe \d+: (.+\n)+  – not applicable \d+, not run: `, screen)
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
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/documents/redlock"
)

func Subject() failures.Subject {
	return failures.Subject{Name: "over five", NewOver: adapters.Over(func(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (failures.Locker, error) {
		return redlock.New(nodes, name, lease, random), nil
	})}
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
	for _, f := range catalogue.OfRedLock {
		fmt.Fprintf(&want, "%s: %s\n", f.ID, failures.Expected("redlock")(f))
	}
	require.Equal(t, want.String(), string(raw))
}

// module writes a lock into a folder: stage 4's with an edit, and the other files.
func module(t *testing.T, old, new string, files map[string]string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "my lock")
	lock, err := os.ReadFile("../../stage4_lua_unlock/mutex.go")
	require.NoError(t, err)
	require.Contains(t, string(lock), old)
	text := strings.Replace(string(lock), "package stage4\n", "package lock\n", 1)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "lock"), 0o755))
	all := map[string]string{"lock/mutex.go": strings.Replace(text, old, new, 1)}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// modFile returns a go.mod as authors write it, with more requirements.
func modFile(more string) string {
	return "module example.com/shop\n\ngo 1.26\n\nrequire (\n\tgithub.com/google/uuid v1.6.0\n\tgithub.com/redis/go-redis/v9 v9.23.0\n)\n" + more
}

func TestGradeOfWhatCannotBeGraded(t *testing.T) {
	for _, c := range []struct{ old, new, lang, said, out string }{
		{"func NewMutex", "func newMutex", "en", "the lock cannot be graded\n", "✗ the failures cannot call it: there is no func NewMutex"},
		{"func NewMutex", "func newMutex", "zh", "这把锁打不了分\n", "✗ 故障测试调用不了它：没有 func NewMutex"},
		{"Mutex) Unlock", "Mutex) Free", "en", "the lock cannot be graded\n", "✗ the failures cannot call it: Your Mutex has no method Unlock("},
	} {
		broken := module(t, c.old, c.new, map[string]string{"go.mod": modFile("")})
		status, out, errors := command(t, "grade", filepath.Join(broken, "lock"), "--lang", c.lang)
		require.Equal(t, exitFailed, status)
		require.Equal(t, c.said, errors)
		require.Contains(t, out, c.out)
		require.Regexp(t, `\ndocs/\S*grade.md `, out)
	}
}

func TestConstructorWithoutAnErrorInAModuleOfALaterVersion(t *testing.T) {
	dir := module(t, "func NewMutex(", `func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) *Mutex {
	m, _ := newMutex(rdb, name, ttl)
	return m
}

func newMutex(`, map[string]string{"go.mod": strings.Replace(modFile(""), "example.com/shop", "example.com/shop/v2", 1)})
	pkg, err := apart.FindPackage(t.Context(), filepath.Join(dir, "lock"))
	require.NoError(t, err)
	root, err := apart.FindRoot(".")
	require.NoError(t, err)
	bench, err := apart.BuildPackage(t.Context(), root, pkg, nil)
	require.NoError(t, err)
	require.NoError(t, bench.Close())
}

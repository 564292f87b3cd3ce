package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata"
	"lockkata/internal/term"
)

// module writes a lock into a folder: stage 4's with an edit, and the other files.
func module(t *testing.T, old, new string, files map[string]string) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles a program")
	}
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

// onTerminal returns an app with a terminal of that width, and its output.
func onTerminal(t *testing.T, width int) (a *app, out, errors *strings.Builder) {
	out, errors = &strings.Builder{}, &strings.Builder{}
	return &app{t: t, sources: os.DirFS("../.."), out: out, err: errors, width: width}, out, errors
}

// requireColumns requires that no line is wider.
func requireColumns(t *testing.T, width int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), width, line)
	}
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
	pkg, err := kata.FindPackage(t.Context(), filepath.Join(dir, "lock"))
	require.NoError(t, err)
	root, err := kata.FindRoot(".")
	require.NoError(t, err)
	program, err := kata.BuildPackage(t.Context(), root, pkg)
	require.NoError(t, err)
	program.Close()
}

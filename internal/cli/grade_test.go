package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/kata"
	"lockkata/internal/term"
)

// module writes a lock into a folder: stage 4's, with an edit, and the other files.
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

// modFile is a go.mod as their authors have it, with what else it requires.
func modFile(more string) string {
	return "module example.com/shop\n\ngo 1.26\n\nrequire (\n\tgithub.com/google/uuid v1.6.0\n\tgithub.com/redis/go-redis/v9 v9.23.0\n)\n" + more
}

const attempt = "	value := uuid.NewString()\n"

// A lock in a module of its own sets the file of what is expected; the same lock with one
// mistake more, in no module at all, differs from it in just that.
func TestGradeOfALockInAModuleOfItsOwnAndInNone(t *testing.T) {
	dir := module(t, "", "", map[string]string{"go.mod": modFile("")})
	page, golden := filepath.Join(dir, "card.html"), filepath.Join(dir, "card.txt")
	lock := filepath.Join(dir, "lock")
	status, out, errors := command(t, "grade", lock, "--json", "--html", page, "--expect", golden, "--update")
	require.Equal(t, exitOK, status, errors)
	var card kata.Card
	require.NoError(t, json.Unmarshal([]byte(out), &card))
	outcomes := map[string]string{}
	for _, c := range card.Cells {
		outcomes[c.Failure] = c.Outcome
		require.Empty(t, c.Again, "%s flips", c.Failure)
	}
	require.Len(t, outcomes, len(failureIDs()))
	require.Equal(t, "broken", outcomes["work-outlives-ttl"])
	require.Equal(t, "safe", outcomes["check-then-delete"])
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "mutex.go", "the runs name the lock's own lines")

	wrong := filepath.Join(module(t, "deleted == 0", "deleted < 0", nil), "lock")
	narrow, screen, said := onTerminal(t, 80)
	require.Equal(t, exitFailed, narrow.run([]string{"grade", wrong, "--expect", golden, "--lang", "zh"}))
	require.Regexp(t, `(?m)^  ✓ check-then-delete +没有违反规则$`, screen)
	require.Contains(t, said.String(), "loss-hidden-at-unlock 的结果是“被破坏”，文件里是“安全”：丢锁要有通知：Unlock 告诉 A")
	require.NotContains(t, said.String(), "second-client")
	require.Empty(t, englishIn(screen.String()+said.String()))
	requireColumns(t, 80, screen.String())

	narrow, screen, _ = onTerminal(t, 80)
	narrow.gradeText(card)
	requireColumns(t, 80, screen.String())
	require.NotRegexp(t, `\p{Han}`, screen)
	require.Contains(t, screen.String(), "→ the runs show features that nobody has named: --has scripts")
	require.Equal(t, []string{"scripts"}, card.Shows())
	require.Regexp(t, `(?m)^  ✓ safe in this one run\n(  .+\n)*  – not applicable: `, screen)
	require.Empty(t, card.Differences(card.Golden(), i18n.English))
	require.Equal(t, []string{
		"second-client is safe, not broken or safe: no rule is broken", "zebra is in the file, and was not played",
	}, card.Differences(strings.Replace(card.Golden(), "second-client: safe", "second-client: broken or safe", 1)+"zebra: safe\n", i18n.English))

	narrow, screen, _ = onTerminal(t, 80)
	narrow.gradeMarkdown(card)
	require.Contains(t, screen.String(), "| `check-then-delete` | ✓ |")
}

// onTerminal runs a command on a terminal of that width, and returns what it prints there.
func onTerminal(t *testing.T, width int) (a *app, out, errors *strings.Builder) {
	out, errors = &strings.Builder{}, &strings.Builder{}
	return &app{t: t, sources: os.DirFS("../.."), out: out, err: errors, width: width}, out, errors
}

// requireColumns asks that no line is wider.
func requireColumns(t *testing.T, width int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), width, line)
	}
}

func TestGradeOfWhatCannotBeGraded(t *testing.T) {
	broken := module(t, "func NewMutex", "func newMutex", map[string]string{"go.mod": modFile("")})
	for args, says := range map[string]string{
		"":                                      "grade takes one folder, as in: go run . grade stage4_lua_unlock",
		"nowhere":                               "there is no folder ",
		"grade_test.go":                         "there is no folder ",
		"../../docs":                            "there is no Go file in",
		"../../internal/kata --json --markdown": "exclude each other",
		"../../internal/kata --update":          "--update writes the file of --expect",
		"../../internal/kata --has wheels":      `--has "wheels": no failure is about that; there are: force, watchdog, `,
	} {
		requireRefused(t, exitBadUsage, []refusal{{strings.TrimSpace("grade " + args), says}})
	}
	for _, lang := range i18n.Languages {
		status, out, errors := command(t, "grade", filepath.Join(broken, "lock"), "--lang", string(lang))
		require.Equal(t, exitFailed, status)
		require.Equal(t, map[i18n.Language]string{"en": "the lock cannot be graded\n", "zh": "这把锁打不了分\n"}[lang], errors)
		says := map[i18n.Language]string{"en": "✗ it does not compile: there is no func NewMutex", "zh": "✗ 编译不过：没有 func NewMutex"}[lang]
		require.Contains(t, out, says)
	}
}

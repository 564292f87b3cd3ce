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

	"lockkata/internal/i18n"
	"lockkata/internal/kata"
)

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

// An adapter is in a module that requires this repository, where it is.
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

// A lock that ruins a run is told which of its lines does so, and everything else is judged.
func TestGradeNamesTheLineThatRuinsARun(t *testing.T) {
	const granted = "	m.value = value\n"
	for name, c := range map[string]struct {
		old, new string
		says     string
		judged   string // a line of the card
	}{
		"spins":                {attempt, attempt + "	for value != \"\" {\n	}\n", `it loops without end: TryLock loops without end at lock/mutex\.go:\d+`, "… work-outlives-ttl"},
		"asks without a pause": {"case <-time.After(pollInterval):", "default:", `it floods Redis: TryLock floods Redis at lock/mutex\.go:\d+`, "✗ work-outlives-ttl"},
		"leaks":                {granted, granted + "	go func() { select {} }()\n", `it leaks a goroutine: .* at lock/mutex\.go:\d+`, "✗ work-outlives-ttl"},
		"panics":               {"	if deleted == 0 {\n", "	if deleted == 0 {\n		panic(\"not held\")\n", `failures: a call panics: loss-hidden-at-unlock`, "✗ delete-foreign"},
		"ignores the context": {
			"func (m *Mutex) Lock(ctx context.Context) error {\n", "func (m *Mutex) Lock(ctx context.Context) error {\n	ctx = context.WithoutCancel(ctx)\n",
			`not kept: Lock ends when its context does`, "✓ delete-foreign",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := module(t, c.old, c.new, map[string]string{"go.mod": modFile("")})
			_, out, errors := command(t, "grade", filepath.Join(dir, "lock"))
			require.Regexp(t, c.says, out, errors)
			require.Contains(t, out, c.judged)
		})
	}
}

// A lock whose goroutine renews for the whole process has no wrong cell: each failure has a process
// of its own.
func TestPackageWideRenewalIsGradedAsOneOfItsOwn(t *testing.T) {
	card := func(edit func(string) string) map[string]string {
		dir := t.TempDir()
		for _, name := range []string{"mutex.go", "watchdog.go"} {
			raw, err := os.ReadFile(filepath.Join("../../stage5_watchdog", name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(edit(string(raw))), 0o600))
		}
		status, out, errors := command(t, "grade", dir, "--has", "scripts,watchdog", "--json")
		require.Equal(t, exitOK, status, "%s%s", out, errors)
		var card kata.Card
		require.NoError(t, json.Unmarshal([]byte(out), &card))
		outcomes := map[string]string{}
		for _, c := range card.Cells {
			outcomes[c.Failure] = c.Outcome
		}
		return outcomes
	}
	own := card(func(text string) string { return text })
	service := card(func(text string) string {
		return strings.NewReplacer(
			"	go w.renew(ctx, value, w.ended)\n", `	ended := w.ended
	mu.Lock()
	watched = append(watched, func() { w.renew(ctx, value, ended) })
	mu.Unlock()
	started.Do(func() { go serve() })
`,
			"const shortestRenewed", `var (
	mu      sync.Mutex
	watched []func()
	started sync.Once
)

// serve begins the renewals of all locks.
func serve() {
	for range time.Tick(time.Millisecond) {
		mu.Lock()
		for _, renew := range watched {
			go renew()
		}
		watched = nil
		mu.Unlock()
	}
}

const shortestRenewed`,
			"	\"context\"\n	\"time\"\n", "	\"context\"\n	\"sync\"\n	\"time\"\n", // of watchdog.go
		).Replace(text)
	})
	require.Equal(t, own, service)
}

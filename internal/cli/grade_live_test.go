//go:build live

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// A lock that ruins its runs is told which of its lines does so, and what it did until then
// is judged.
func TestGradeNamesTheLineThatRuinsARun(t *testing.T) {
	const granted = "	m.value = value\n"
	for name, c := range map[string]struct {
		old, new string
		says     string
		judged   string // a line of the card; "" where there is none
	}{
		"spins": {attempt, attempt + "	for value != \"\" {\n	}\n", `it loops without end, in an ordinary day: TryLock runs without end at mutex\.go:\d+`, ""},
		"asks without a pause": {
			"case <-time.After(pollInterval):", "default:", `it floods Redis, in an ordinary day: TryLock at mutex\.go:\d+ floods Redis`, "",
		},
		"leaks": {
			granted, granted + "	go func() { select {} }()\n", `it leaks a goroutine, in an ordinary day: .* at mutex\.go:\d+`, "✗ work-outlives-ttl",
		},
		"panics": {
			"	if deleted == 0 {\n", "	if deleted == 0 {\n		panic(\"not held\")\n", `failures: a call panics: loss-hidden-at-unlock`, "✗ delete-foreign",
		},
		"holds a mutex": {
			"func (m *Mutex) Lock(ctx context.Context) error {\n",
			"var mu sync.Mutex\n\nfunc (m *Mutex) Lock(ctx context.Context) error {\n	mu.Lock()\n	defer mu.Unlock()\n",
			`it holds a sync\.Mutex across a Redis call, in .*: Lock waits at mutex\.go:\d+`, "✗ work-outlives-ttl",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := module(t, c.old, c.new, map[string]string{"go.mod": modFile("")})
			file := filepath.Join(dir, "lock", "mutex.go")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if strings.Contains(string(text), "sync.Mutex") {
				text = []byte(strings.Replace(string(text), "\"fmt\"\n", "\"fmt\"\n	\"sync\"\n", 1))
				require.NoError(t, os.WriteFile(file, text, 0o600))
			}
			_, out, errors := command(t, "grade", filepath.Join(dir, "lock"))
			require.Regexp(t, c.says, out, errors)
			require.Contains(t, out, c.judged)
		})
	}
}

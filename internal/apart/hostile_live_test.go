//go:build live

package apart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

const hostileModule = `module example.com/hostile

go 1.26

require (
	github.com/google/uuid v1.6.0
	github.com/redis/go-redis/v9 v9.23.0
)
`

// writeModule writes stage 4's lock with these edits, and its go.mod, into a folder of that name. The edits are
// pairs of an old and a new text.
func writeModule(t *testing.T, name string, edits ...string) (dir string) {
	t.Helper()
	raw, err := os.ReadFile("../../stage4_lua_unlock/mutex.go")
	require.NoError(t, err)
	text := string(raw)
	for i := 0; i < len(edits); i += 2 {
		require.Equal(t, 1, strings.Count(text, edits[i]), edits[i])
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	dir = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(dir, 0o755))
	writeIn(t, dir, "mutex.go", text)
	writeIn(t, dir, "go.mod", hostileModule)
	return dir
}

func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func gradeIn(t *testing.T, dir string, has ...string) Card {
	t.Helper()
	root, err := FindRoot(".")
	require.NoError(t, err)
	card, err := Grade(t.Context(), root, dir, Grading{Has: has, Lang: i18n.English, Say: func(i18n.Message) {}})
	require.NoError(t, err)
	require.Nil(t, card.Compile)
	return card
}

// Beginnings of declarations in stage 4's lock, which the edits extend.
const (
	imports   = "import (\n"
	mutexType = "type Mutex struct {\n"
	tryLock   = "func (m *Mutex) TryLock(ctx context.Context) (bool, error) {\n"
	acquired  = "\tm.value = value\n\treturn true, nil\n}\n"
	unlock    = "func (m *Mutex) Unlock(ctx context.Context) error {\n"
)

func TestLocksThatCannotBePlayed(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		has   []string
		says  string // a regular expression for the only reason
	}{
		{
			name: "keeps", says: `^blocks forever: TryLock waits at keeps/mutex\.go:\d+ for a sync\.Mutex: a context cannot end that wait\.$`,
			edits: []string{imports, imports + "\t\"sync\"\n", tryLock, `var (
	mu    sync.Mutex
	tried bool
)

` + tryLock + `	mu.Lock()
	if !tried {
		tried = true
		return false, nil
	}
	mu.Unlock()
`},
		},
		{
			name: "loops", says: `^loops without end: TryLock loops without end at loops/mutex\.go:\d+: it neither waits nor asks Redis\.$`,
			edits: []string{tryLock, tryLock + "\tfor n := 0; n >= 0; n = (n + 1) % 8 {\n\t}\n"},
		},
		{
			name: "socket", says: `^waits for something outside of the run: accept waits at socket/mutex\.go:\d+ for a connection or a file of its own\. `,
			edits: []string{imports, imports + "\t\"net\"\n", tryLock, "func accept(l net.Listener) { _, _ = l.Accept() }\n\n" + tryLock + `	if listener, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		accept(listener)
	}
`},
		},
		{
			name: "across", says: `^holds a sync\.Mutex across a Redis call: TryLock waits at across/mutex\.go:\d+ for a sync\.Mutex that another call holds while it waits for Redis at across/mutex\.go:\d+\. `,
			edits: []string{imports, imports + "\t\"sync\"\n", tryLock, "var mu sync.Mutex\n\n" + tryLock + "\tmu.Lock()\n\tdefer mu.Unlock()\n"},
		},
		{
			name: "ticks", has: []string{"watchdog"}, says: `^holds a sync\.Mutex across a Redis call: Unlock waits at ticks/mutex\.go:\d+ for a sync\.Mutex that another call holds while it waits for Redis at ticks/mutex\.go:\d+\. `,
			edits: []string{
				imports, imports + "\t\"sync\"\n",
				mutexType, mutexType + "\tmu    sync.Mutex\n\ttimer *time.Timer\n",
				acquired, `	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = time.AfterFunc(m.ttl/3, m.tick)
` + acquired + `
func (m *Mutex) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rdb.Do(context.Background(), "PEXPIRE", m.key, m.ttl.Milliseconds()).Err() == nil {
		m.timer = time.AfterFunc(m.ttl/3, m.tick)
	}
}
`,
				unlock, unlock + `	m.mu.Lock()
	if m.timer != nil {
		m.timer.Stop()
	}
	m.mu.Unlock()
`,
			},
		},
		{
			name: "shares", says: `^shares a variable between processes: A and \w are two processes, but while A takes, holds or frees the lock, \w sends nothing to Redis: `,
			edits: []string{
				imports, imports + "\t\"sync\"\n",
				tryLock, "var held sync.Map // the keys of this process's locks\n\n" + tryLock + "\tif _, taken := held.LoadOrStore(m.key, true); taken {\n\t\treturn false, nil\n\t}\n",
				unlock, unlock + "\tdefer held.Delete(m.key)\n",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ends := gradeIn(t, writeModule(t, c.name, c.edits...), c.has...).Ends()
			require.Len(t, ends, 1)
			require.Regexp(t, c.says, ends[0].Kind.Localize(i18n.English)+": "+ends[0].Text.Error())
		})
	}
}

// The tests of the package are neither compiled nor run.
func TestPackagesOwnTestsAreNotPlayed(t *testing.T) {
	t.Parallel()
	dir := writeModule(t, "docker")
	want := gradeIn(t, dir)
	require.Contains(t, want.Golden(), "work-outlives-ttl: broken\n")
	writeIn(t, dir, "main_test.go", `package stage4

import (
	"os"
	"os/exec"
	"testing"

	"example.com/missing/containers"
)

func TestMain(m *testing.M) {
	containers.Start()
	if exec.Command("docker", "run", "redis").Run() != nil {
		os.Exit(3)
	}
	os.Exit(m.Run())
}
`)
	got := gradeIn(t, dir)
	require.Empty(t, got.Ends())
	require.Equal(t, want.Golden(), got.Golden())
}

package stages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// edit damages one line of a stage. The catalogue has to notice: the cell that it
// names must have another outcome than the lesson's.
type edit struct {
	name    string
	dir     string
	old     string
	new     string
	failure string // the cell that must turn red
}

// edits test the suite: each is a mistake that somebody could make.
var edits = []edit{
	{"answer of SETNX ignored", "stage1_setnx_expire", `if !created {`, `if !created && false {`, "second-client"},
	{"lease of seconds given as milliseconds", "stage1_setnx_expire", `"PEXPIRE", m.key, m.ttl.Milliseconds()`, `"PEXPIRE", m.key, int64(m.ttl.Seconds())`, "second-client"},
	{"NX dropped", "stage2_set_nx_ex", `"locked", "NX", "PX"`, `"locked", "PX"`, "second-client"},
	{"PX given seconds", "stage2_set_nx_ex", `"PX", m.ttl.Milliseconds()`, `"PX", int64(m.ttl.Seconds())`, "second-client"},
	{"EX given milliseconds", "stage2_set_nx_ex", `"PX", m.ttl.Milliseconds()`, `"EX", m.ttl.Milliseconds()`, "crash-before-expire"},
	{"every error taken for a no", "stage2_set_nx_ex", `if errors.Is(err, redis.Nil) {`, `if err != nil {`, "oom"},
	{"comparison turned round", "stage3_owner_value", `if value != m.value {`, `if value == m.value {`, "delete-foreign"},
	{"one value for everybody", "stage3_owner_value", `value := uuid.NewString()`, `value := uuid.Nil.String()`, "delete-foreign"},
	{"value remembered before success", "stage3_owner_value", `value := uuid.NewString()`, `value := uuid.NewString(); m.value = value`, "try-while-holding"},
	{"any value taken for one's own", "stage3_owner_value", `if value != m.value {`, `if value == "" {`, "delete-foreign"},
	{"value kept after Unlock and not asked for", "stage3_owner_value", `if value != m.value {`, `if _ = value; m.value == "" {`, "loss-hidden-at-unlock"},
	{"comparison turned round in Lua", "stage4_lua_unlock", `== ARGV[1] then`, `~= ARGV[1] then`, "delete-foreign"},
	{"DEL before the comparison", "stage4_lua_unlock", `if redis.call("GET", KEYS[1]) == ARGV[1] then`, `if redis.call("DEL", KEYS[1]) == 1 then`, "check-then-delete"},
	{"one value for each object", "stage4_lua_unlock", `value := uuid.NewString()`, `value := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%p", m)).String()`, "late-unlock"},
	{"answer of the script ignored", "stage4_lua_unlock", `if deleted == 0 {`, `if deleted < 0 {`, "loss-hidden-at-unlock"},
	{"script sent by its hash only", "stage4_lua_unlock", `unlockScript.Run(`, `unlockScript.EvalSha(`, "script-flush"},
	{"Lock gives up and says that it holds", "stage4_lua_unlock", `return fmt.Errorf("stage4: wait for %s: %w", m.key, ctx.Err())`, `return nil`, "self-deadlock"},
	{"Lock goes on after an error", "stage4_lua_unlock", `if err != nil || held {`, `if _ = err; held {`, "grant-reply-lost"},
}

func TestEachEditTurnsItsCellRed(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	overlay := map[string]string{}
	scratch := t.TempDir()
	put := func(file, text string) {
		copied := filepath.Join(scratch, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(copied, []byte(text), 0o600))
		overlay[filepath.Join(root, file)] = copied
	}
	for i, e := range edits {
		put(fmt.Sprintf("internal/edited/e%d/mutex.go", i), e.apply(t, root))
	}
	put("internal/edited/main.go", program())
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	file := filepath.Join(scratch, "overlay.json")
	require.NoError(t, os.WriteFile(file, raw, 0o600))

	run := exec.Command("go", "run", "-overlay", file, "./internal/edited")
	run.Dir = root
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	outcomes := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
		outcomes[name] = outcome
	}
	for i, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			outcome := outcomes[fmt.Sprint("e", i)]
			require.NotEmpty(t, outcome)
			require.True(t, strings.HasPrefix(outcome, "red"), "%s stays as the lesson says with this edit of %s: %s", e.failure, e.dir, outcome)
		})
	}
}

func (e edit) apply(t *testing.T, root string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, e.dir, "mutex.go"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), e.old), "%q has to be in %s exactly once", e.old, e.dir)
	return strings.Replace(string(source), e.old, e.new, 1)
}

// program runs each edited lock through the failure that it names and prints
// whether the outcome is still the lesson's.
func program() string {
	var imports, cases strings.Builder
	for i, e := range edits {
		fmt.Fprintf(&imports, "\te%d \"lockkata/internal/edited/e%d\"\n", i, i)
		fmt.Fprintf(&cases, `	judge(t, "e%d", %q, %s, func(r redis.UniversalClient, n string, d time.Duration) (failures.Locker, error) { return e%d.NewMutex(r, n, d) })`+"\n",
			i, e.failure, e.dir[len("stage"):len("stage1")], i)
	}
	return fmt.Sprintf(`package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
%s)

func main() {
	world.Main(func(t *testing.T, _ []string) int {
%s		return 0
	})
}

func judge(t *testing.T, name, id string, stage int, create world.New) {
	f, _ := failures.Find(id)
	s := stages.All[stage-1].Subject
	s.New = create
	scripts, err := failures.Rehearse(t, s)
	if err != nil {
		fmt.Printf("%%s: red, it does not survive an ordinary day\n", name)
		return
	}
	v := failures.Run(t, f, s, scripts)
	color := "green"
	if v.Outcome != failures.Stage(stage)(f) {
		color = "red"
	}
	fmt.Printf("%%s: %%s, %%s: %%s\n", name, color, v.Outcome, v.Sentence())
}
`, imports.String(), cases.String())
}

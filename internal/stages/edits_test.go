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
	file    string
	old     string
	new     string
	failure string // the cell that must turn red
	search  string // the search that must find it too, property/environment; "" if none is asked
}

const (
	file1  = "stage1_setnx_expire/mutex.go"
	file2  = "stage2_set_nx_ex/mutex.go"
	file3  = "stage3_owner_value/mutex.go"
	file4  = "stage4_lua_unlock/mutex.go"
	file5  = "stage5_watchdog/mutex.go"
	dog5   = "stage5_watchdog/watchdog.go"
	stage6 = "stage6_reentrant_pubsub/"
)

// edits test the suite: each is a mistake that somebody could make.
var edits = []edit{
	{"answer of SETNX ignored", file1, `if !created {`, `if !created && false {`, "second-client", ""},
	{"lease of seconds given as milliseconds", file1, `"PEXPIRE", m.key, m.ttl.Milliseconds()`, `"PEXPIRE", m.key, int64(m.ttl.Seconds())`, "second-client", ""},
	{"NX dropped", file2, `"locked", "NX", "PX"`, `"locked", "PX"`, "second-client", "exclusion/short-pauses"},
	{"PX given seconds", file2, `"PX", m.ttl.Milliseconds()`, `"PX", int64(m.ttl.Seconds())`, "second-client", ""},
	{"EX given milliseconds", file2, `"PX", m.ttl.Milliseconds()`, `"EX", m.ttl.Milliseconds()`, "crash-before-expire", ""},
	{"every error taken for a no", file2, `if errors.Is(err, redis.Nil) {`, `if err != nil {`, "oom", ""},
	{"comparison turned round", file3, `if value != m.value {`, `if value == m.value {`, "delete-foreign", "wrong-delete/async"},
	{"one value for everybody", file3, `value := uuid.NewString()`, `value := uuid.Nil.String()`, "delete-foreign", ""},
	{"value remembered before success", file3, `value := uuid.NewString()`, `value := uuid.NewString(); m.value = value`, "try-while-holding", ""},
	{"any value taken for one's own", file3, `if value != m.value {`, `if value == "" {`, "delete-foreign", ""},
	{"value kept after Unlock and not asked for", file3, `if value != m.value {`, `if _ = value; m.value == "" {`, "loss-hidden-at-unlock", ""},
	{"comparison turned round in Lua", file4, `== ARGV[1] then`, `~= ARGV[1] then`, "delete-foreign", ""},
	{"DEL before the comparison", file4, `if redis.call("GET", KEYS[1]) == ARGV[1] then`, `if redis.call("DEL", KEYS[1]) == 1 then`, "check-then-delete", "wrong-delete/async"},
	{"one value for each object", file4, `value := uuid.NewString()`, `value := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%p", m)).String()`, "late-unlock", ""},
	{"answer of the script ignored", file4, `if deleted == 0 {`, `if deleted < 0 {`, "loss-hidden-at-unlock", ""},
	{"script sent by its hash only", file4, `unlockScript.Run(`, `unlockScript.EvalSha(`, "script-flush", ""},
	{"Lock gives up and says that it holds", file4, `return fmt.Errorf("stage4: wait for %s: %w", m.key, ctx.Err())`, `return nil`, "self-deadlock", ""},
	{"Lock goes on after an error", file4, `if err != nil || held {`, `if _ = err; held {`, "grant-reply-lost", ""},
	{"watchdog never started", file5, `m.watchdog.start(value)`, `_ = value`, "work-outlives-ttl", ""},
	{"renewal without a look at the owner", dog5, `if redis.call("GET", KEYS[1]) == ARGV[1] then`, `if redis.call("EXISTS", KEYS[1]) == 1 then`, "renew-foreign", ""},
	{"period longer than the lease", dog5, `time.NewTicker(w.ttl / 3)`, `time.NewTicker(w.ttl * 2)`, "work-outlives-ttl", ""},
	{"watchdog ended by one error", dog5, `if err == nil && renewed == 0 {`, `if err != nil || renewed == 0 {`, "renew-blip", ""},
	{"renewal given seconds", dog5, `value, w.ttl.Milliseconds()).Int()`, `value, int64(w.ttl.Seconds())).Int()`, "work-outlives-ttl", ""},
	{"watchdog not stopped by Unlock", file5, `	m.watchdog.stop()`, `	_ = m.watchdog`, "unlock-error-dog-lives", ""},
	{"acquire without a look at others", stage6 + "acquire.lua", `redis.call("EXISTS", KEYS[1]) == 1`, `redis.call("EXISTS", KEYS[1]) == 2`, "second-client", ""},
	{"token from a counter alone", stage6 + "acquire.lua", `math.max(token + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))`, `token + 1`, "token-after-flush", ""},
	{"unlock publishes nothing", stage6 + "release.lua", `redis.call("PUBLISH", ARGV[1], "0")`, ``, "waiter-leaves", ""},
	{"counts relative instead of absolute", stage6 + "count.lua", `redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])`, `redis.call("HINCRBY", KEYS[1], ARGV[1], 1)`, "inner-unlock-frees", ""},
	{"renewal without a look at the owner, in a batch", stage6 + "renew.lua", `if mine == 1 then`, `if mine ~= nil then`, "forced-unlock", ""},
	{"lease counted from the reply", stage6 + "acquire.go", `newOwnership(m, r, owner, answer, sent.Add(r.lease))`, `newOwnership(m, r, owner, answer, time.Now().Add(r.lease))`, "slow-grant", "exclusion/async"},
	{"no clean-up after an unknown outcome", stage6 + "acquire.go", `if isUnknown(err) {`, `if false {`, "grant-reply-lost", "leak/reply-loss"},
	{"lock commands sent again by go-redis", stage6 + "scripts.go", `func (once) NoRetry() bool { return true }`, `func (once) NoRetry() bool { return false }`, "retry-unlock", ""},
	{"no attempt after the subscription is acknowledged", stage6 + "hear.go", "case *redis.Subscription, *redis.Message:", "case *redis.Message:", "wake-lost", "wake-up/short-pauses"},
	{"wake-up taken along by one who leaves", stage6 + "waiters.go", `room.signal() // the next one has to look for himself`, ``, "wake-eaten", "wake-up/refusal"},
	{"no timer beside the messages", stage6 + "waiters.go", `timer := time.NewTimer(max(left, 0))`, `timer := time.NewTimer(max(left, 1000*time.Hour))`, "expiry-wakes", ""},
	{"loss not told", stage6 + "renewal.go", `case !answers[i]:`, `case !answers[i] && false:`, "forced-unlock", ""},
}

func TestEachEditTurnsItsCellRed(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program of the edited locks, and searches them")
	}
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
		for name, text := range e.apply(t, root) {
			put(fmt.Sprintf("internal/edited/e%d/%s", i, name), text)
		}
		if e.stage() == 6 {
			put(fmt.Sprintf("internal/edited/a%d/adapter.go", i), adapter(t, i))
		}
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
			require.True(t, strings.HasPrefix(outcome, "red"), "%s stays as the lesson says with this edit of %s: %s", e.failure, e.file, outcome)
			if e.search != "" {
				found := outcomes[fmt.Sprint("s", i)]
				require.True(t, strings.HasPrefix(found, "red"), "%s is not found with this edit of %s: %s", e.search, e.file, found)
				t.Log(found)
			}
		})
	}
}

// stage is the number of the stage that is edited.
func (e edit) stage() int { return int(e.file[len("stage")] - '0') }

// apply returns the files of the stage, with the edit.
func (e edit) apply(t *testing.T, root string) map[string]string {
	t.Helper()
	dir, edited := filepath.Split(e.file)
	files, err := os.ReadDir(filepath.Join(root, dir))
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") || filepath.Ext(f.Name()) == ".md" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, dir, f.Name()))
		require.NoError(t, err)
		texts[f.Name()] = string(raw)
	}
	require.Equal(t, 1, strings.Count(texts[edited], e.old), "%q has to be in %s exactly once", e.old, e.file)
	texts[edited] = strings.Replace(texts[edited], e.old, e.new, 1)
	return texts
}

// adapter is that of stage 6, on the edited lock.
func adapter(t *testing.T, i int) string {
	t.Helper()
	raw, err := os.ReadFile("stage6.go")
	require.NoError(t, err)
	text := strings.Replace(string(raw), "package stages", fmt.Sprintf("package a%d", i), 1)
	text = strings.Replace(text, `stage6 "lockkata/stage6_reentrant_pubsub"`, fmt.Sprintf(`stage6 "lockkata/internal/edited/e%d"`, i), 1)
	return text + `
// New and Variants are for the program.
var (
	New      = subject6("").New
	Variants = subject6("").Variants
)
`
}

// program runs each edited lock through the failure that it names and prints
// whether the outcome is still the lesson's.
func program() string {
	var imports, cases strings.Builder
	for i, e := range edits {
		create := fmt.Sprintf("a%d.New, a%d.Variants", i, i)
		if e.stage() == 6 {
			fmt.Fprintf(&imports, "\ta%d \"lockkata/internal/edited/a%d\"\n", i, i)
		} else {
			fmt.Fprintf(&imports, "\te%d \"lockkata/internal/edited/e%d\"\n", i, i)
			create = fmt.Sprintf("func(r redis.UniversalClient, n string, d time.Duration) (failures.Locker, error) { return e%d.NewMutex(r, n, d) }, nil", i)
		}
		fmt.Fprintf(&cases, "\tjudge(t, \"e%d\", %q, %d, %s)\n", i, e.failure, e.stage(), create)
		if e.search != "" {
			fmt.Fprintf(&cases, "\tsearch(t, \"s%d\", %q, %d, %s)\n", i, e.search, e.stage(), create)
		}
	}
	return fmt.Sprintf(`package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
%s)

func main() {
	world.Main(func(t *testing.T, _ []string) int {
%s		return 0
	})
}

func judge(t *testing.T, name, id string, stage int, create world.New, variants map[failures.Variant]world.New) {
	f, ok := failures.Find(id)
	if !ok {
		fmt.Printf("%%s: there is no failure %%s\n", name, id)
		return
	}
	s := stages.All[stage-1].Subject
	s.New, s.Variants = create, variants
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

func search(t *testing.T, name, asked string, stage int, create world.New, variants map[failures.Variant]world.New) {
	s := stages.All[stage-1].Subject
	s.New, s.Variants = create, variants
	scripts, err := failures.Rehearse(t, s)
	if err != nil {
		fmt.Printf("%%s: red, it does not survive an ordinary day\n", name)
		return
	}
	property, env, _ := strings.Cut(asked, "/")
	for _, q := range schedule.Suite {
		if q.Env != env || !slices.Contains(q.Properties, property) {
			continue
		}
		q.Properties = []string{property}
		setup, properties := q.Ask(s, scripts, 1)
		result, err := schedule.Search(t, setup, properties, schedule.Limits{Bound: q.Bound})
		if found := result.Found[property]; found != nil {
			fmt.Printf("%%s: red, %%s at cost %%d in %%d steps, after %%d schedules\n", name, found.Finding.Text, found.Cost, len(found.Schedule), result.Runs)
			return
		}
		fmt.Printf("%%s: green, nothing in %%d schedules, %%v\n", name, result.Runs, err)
	}
}
`, imports.String(), cases.String())
}

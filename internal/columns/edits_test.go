package columns_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
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

// column is the one whose lock is edited.
func (e edit) column() columns.Column {
	dir, _, _ := strings.Cut(e.file, "/")
	at := slices.IndexFunc(columns.All, func(c columns.Column) bool { return c.Dir == dir })
	return columns.All[at]
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
	{"acquire without a look at others", stage6 + "acquire.lua", `redis.call("HLEN", KEYS[1]) > 0`, `redis.call("HLEN", KEYS[1]) > 9`, "second-client", ""},
	{"token from a counter alone", stage6 + "acquire.lua", `math.max(token + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))`, `token + 1`, "token-after-flush", ""},
	{"unlock publishes nothing", stage6 + "release.lua", `redis.call("PUBLISH", ARGV[1], "0")`, ``, "waiter-leaves", ""},
	{"counts relative instead of absolute", stage6 + "count.lua", `redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])`, `redis.call("HINCRBY", KEYS[1], ARGV[1], 1)`, "inner-unlock-frees", ""},
	{"renewal without a look at the owner, in a batch", stage6 + "renew.lua", `if mine == 1 then`, `if mine ~= nil then`, "forced-unlock", ""},
	{"lease counted from the reply", stage6 + "acquire.go", `newOwnership(m, r, owner, answer, sent.Add(r.lease))`, `newOwnership(m, r, owner, answer, time.Now().Add(r.lease))`, "slow-grant", "exclusion/async"},
	{"no clean-up after an unknown outcome", stage6 + "acquire.go", `if isUnknown(err) {`, `if false {`, "grant-reply-lost", "leak/reply-loss"},
	{"lock commands sent again by go-redis", stage6 + "scripts.go", `NoRetry() bool { return true }`, `NoRetry() bool { return false }`, "retry-unlock", ""},
	{"no attempt after the subscription is acknowledged", stage6 + "hear.go", "q.heard = q.heard || heard", "if q.heard = q.heard || heard; heard {\ncontinue\n}", "wake-lost", "wake-up/short-pauses"},
	{"wake-up taken along by one who leaves", stage6 + "waiters.go", `q.signal() // the next one has to look for itself`, ``, "wake-eaten", "wake-up/refusal"},
	{"no timer beside the messages", stage6 + "waiters.go", `timer := time.NewTimer(time.Until(q.again))`, `timer := time.NewTimer(time.Until(q.again) + 1000*time.Hour)`, "expiry-wakes", ""},
	{"loss not told", stage6 + "watchdog.go", `if err == nil && !answers[i] {`, `if err == nil && !answers[i] && false {`, "forced-unlock", ""},
}

// damage makes the stages run with edit number i, from 1, and with none for 0. Only the
// binary that [buildDamaged] makes has it.
var damage func(i int)

// The locks cannot be edited where they are: the test builds itself once more, on locks
// that have all edits, of which one at a time is in force, and runs that.
func TestEachEditTurnsItsCellRed(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program of the edited locks, and searches them")
	}
	if damage == nil {
		out, err := exec.Command(buildDamaged(t), "-test.v", "-test.run=^"+t.Name()+"$").CombinedOutput()
		require.NoError(t, err, string(out))
		t.Log(string(out))
		return
	}
	for i, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			f, found := failures.Find(e.failure)
			require.True(t, found)
			expected := e.column().Expect(f)
			subject, err := failures.DiscoverScripts(t, e.column().Subject)
			require.NoError(t, err)
			require.Equal(t, expected, failures.Run(t, f, subject).Outcome, "without the edit")

			damage(i + 1)
			defer damage(0)
			subject, err = failures.DiscoverScripts(t, e.inScripts(t, subject))
			if err != nil {
				return // red enough: it does not survive an ordinary day
			}
			verdict := failures.Run(t, f, subject)
			require.NotEqual(t, expected, verdict.Outcome, "%s stays as the lesson says", e.failure)
			t.Log(verdict.Outcome, verdict.Sentence())
			if e.search != "" {
				e.mustBeFound(t, subject)
			}
		})
	}
}

// mustBeFound asks the search of the suite that the edit names.
func (e edit) mustBeFound(t *testing.T, subject failures.Subject) {
	property, env, _ := strings.Cut(e.search, "/")
	asked := slices.IndexFunc(schedule.Suite, func(q schedule.Question) bool {
		return q.Env == env && slices.Contains(q.Properties, property)
	})
	require.GreaterOrEqual(t, asked, 0, "the suite does not ask %s", e.search)
	q := schedule.Suite[asked]
	q.Properties = []string{property}
	setup, properties := q.Ask(subject, 1)
	result, err := schedule.Search(t, setup, properties, schedule.Limits{Bound: q.Bound})
	require.NotNil(t, result.Found[property], "%s: nothing in %d schedules: %v", e.search, result.Runs, err)
	found := result.Found[property]
	t.Logf("%s at cost %d in %d steps, after %d schedules", found.Finding.Text, found.Cost, len(found.Schedule), result.Runs)
}

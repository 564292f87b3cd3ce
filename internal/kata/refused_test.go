package kata

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

type wrongLock struct {
	name, exercise string
	edits          []Edit
	failure, says  string
}

// wrong are locks that a learner could take for right, with a failure that shows, and what
// is said of it. Without a failure it is the judge's own finding.
var wrong = []wrongLock{
	{"Lock ignores its context", "1", deafLock, "", "Lock of B has a context that ends after 3s, and is still under way"},
	{"Lock ignores its context", "2", deafLock, "", "Lock of B has a context that ends after 3s, and is still under way"},
	{"Lock asks once", "1", instead("		case <-time.After(pollInterval):\n", "		default:\n			return errors.New(\"taken\")\n"), "second-client", "without waiting for A"},
	{"Lock gives up and says that it holds", "4", instead("			return fmt.Errorf(\"mylock: wait for %s: %w\", m.key, ctx.Err())\n", "			return nil\n"), "second-client", "exclusion"},
	{"lease in nanoseconds", "2", instead("m.ttl.Milliseconds()", "m.ttl.Nanoseconds()"), "second-client", "asked for a lease of 30s, and its SET set 8333h20m0s"},
	{
		"Unlock drops the error", "1",
		instead("	if err := m.rdb.Do(ctx, \"DEL\", m.key).Err(); err != nil {\n		return fmt.Errorf(\"mylock: unlock %s: %w\", m.key, err)\n	}\n", "	m.rdb.Do(ctx, \"DEL\", m.key)\n"),
		"", "Unlock says that all is well, but lock:order:1001 is still in Redis.",
	},
	{
		"Unlock forgets the value at once", "4", before("		return fmt.Errorf(\"mylock: unlock %s: %w\", m.key, err)\n", "		m.value = \"\"\n"),
		"", "A is told so and unlocks again, and lock:order:1001 is still in Redis.",
	},
	{
		"two may hold the lock", "4", append(
			instead("Do(ctx, \"SET\", m.key, value, \"NX\", \"PX\", m.ttl.Milliseconds())",
				"Eval(ctx, `if redis.call(\"SCARD\", KEYS[1]) > 1 then return false end redis.call(\"SADD\", KEYS[1], ARGV[1]) return redis.call(\"PEXPIRE\", KEYS[1], ARGV[2])`, []string{m.key}, value, m.ttl.Milliseconds())"),
			instead("if redis.call(\"GET\", KEYS[1]) == ARGV[1] then\n	return redis.call(\"DEL\", KEYS[1])\nend\nreturn 0", "return redis.call(\"SREM\", KEYS[1], ARGV[1])")...),
		"two-at-once", "exclusion: A is inside the lock while G still is",
	},
	{"one value for each object", "3", oneValue, "", "A's two holds write the same value"},
	{"one value for each object", "4", oneValue, "late-unlock", "wrong delete: A's EVALSHA removes the lock of A (A2)"},
	{
		"watchdog ends with the context of Lock", "5", []Edit{
			{"mutex.go", "m.watchdog.start(value)", "m.watchdog.start(ctx, value)"},
			{"watchdog.go", "start(value string)", "start(ctx context.Context, value string)"},
			{"watchdog.go", "context.WithCancel(context.Background())", "context.WithCancel(ctx)"},
		}, "acquire-context-ends", "its watchdog did not renew",
	},
	{"renewal in nanoseconds", "5", []Edit{{"watchdog.go", "w.ttl.Milliseconds()).Int()", "w.ttl.Nanoseconds()).Int()"}}, "work-outlives-ttl", "asked for"},
	{
		"each failed renewal halves the lease", "5",
		[]Edit{{"watchdog.go", "		if err == nil && renewed == 0 {\n", "		if err != nil {\n			w.ttl /= 2\n		}\n		if err == nil && renewed == 0 {\n"}},
		"renew-blip", "its renew set 15s",
	},
	{"loss told after one blip", "6.1", []Edit{{"watchdog.go", "if err == nil && renewed == 0 {", "if err != nil || renewed == 0 {"}}, "renew-blip", "early loss: the lock tells A that its hold is lost"},
	{"loss not told", "6.1", []Edit{{"watchdog.go", "	w.end(ErrLost)\n", ""}}, "renew-partition", "exclusion"},
	{"context outlives Unlock", "6.1", []Edit{{"hold.go", "	h.end(ErrNotHeld) // before the lock is freed: who works on is told in time\n", ""}}, "", "the context of its hold has not ended"},
	{
		"Unlock frees the newest hold of the object", "6.1", []Edit{
			{"mutex.go", "	renewed bool", "	newest  string\n	renewed bool"},
			{"hold.go", "	released bool\n", "	released bool\n	mutex    *Mutex\n"},
			{"hold.go", "	h := &Hold{}\n", "	h := &Hold{mutex: m}\n	m.newest = owner\n"},
			{"hold.go", "deleted, err := unlockScript.Run(ctx, w.rdb, []string{w.key}, w.owner)", "deleted, err := unlockScript.Run(ctx, w.rdb, []string{w.key}, h.mutex.newest)"},
			{"hold.go", "_ = unlockScript.Run(ctx, w.rdb, []string{w.key}, w.owner)", "_ = unlockScript.Run(ctx, w.rdb, []string{w.key}, h.mutex.newest)"},
		}, "delete-sibling", "wrong delete: A's EVALSHA removes the lock of G",
	},
	{"nothing cleaned up", "6.2", []Edit{{"mutex.go", "				go m.cleanUp(owner)\n", "				_ = m.cleanUp\n"}}, "grant-reply-lost", "leak"},
	{"counts added up in Redis", "6.3", []Edit{{"ownership.go", `redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])`, `redis.call("HINCRBY", KEYS[1], ARGV[1], 1)`}}, "try-while-holding", "hold count: A holds the lock once, but Redis counts 3"},
	{"no time left taken for a free lock", "6.4", []Edit{{"mutex.go", "		if answer <= 0 {\n", "		if answer < 0 {\n"}}, "last-millisecond", "exclusion"},
	{
		"message before the delete", "6.4", []Edit{
			{"ownership.go", "	redis.call(\"PUBLISH\", KEYS[1], \"free\")\n", ""},
			{"unknown.go", "	return countScript.Run(ctx", "	if count == 0 {\n		m.rdb.Publish(ctx, m.key, \"free\")\n	}\n	return countScript.Run(ctx"},
		}, "publish-before-delete", "lost wake-up",
	},
	{
		"message after the delete, by itself", "6.4", []Edit{
			{"ownership.go", "	redis.call(\"PUBLISH\", KEYS[1], \"free\")\n", ""},
			{"unknown.go", "	return countScript.Run(ctx", "	if count == 0 {\n		defer m.rdb.Publish(ctx, m.key, \"free\")\n	}\n	return countScript.Run(ctx"},
		}, "publish-before-delete", "lost wake-up",
	},
	{"token in seconds", "6.5", []Edit{{"mutex.go", "tonumber(time[1]) * 1000000 + tonumber(time[2])", "tonumber(time[1])"}}, "token-after-flush", "damage"},
	{"token of a counter", "6.5", []Edit{{"mutex.go", "math.max(clock, ", "math.max(0, "}}, "token-after-flush", "damage"},
}

var (
	deafLock = after("func (m *Mutex) Lock(ctx context.Context) error {\n", "	ctx = context.WithoutCancel(ctx)\n")
	oneValue = instead(attempt, "	value := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, \"%p\", m)).String()\n")
)

func wrongMaterials() (all []Material) {
	for _, w := range wrong {
		all = append(all, Material{Column: w.exercise, Edits: w.edits})
	}
	return all
}

func TestWrongLockIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for _, w := range wrong {
		t.Run(w.exercise+" "+w.name, func(t *testing.T) {
			t.Parallel()
			e := exercise(t, w.exercise)
			report, err := program(t).Judge(t.Context(), filesOf(t, Material{Column: w.exercise, Edits: w.edits}), proves(t, i18n.English).task(e))
			require.NoError(t, err)
			require.False(t, e.passed(report))
			said := report.Verdict(w.failure)
			if w.failure == "" {
				said.Sentence, said.Required = report.Cause.Text.Error(), true
			}
			require.True(t, said.Required && !said.Good)
			require.Contains(t, said.Sentence, w.says)
			if broken := slices.ContainsFunc(report.Red(), judge.Verdict.IsTold); broken {
				require.True(t, report.Red()[0].IsTold(), "what is broken is told before what could not happen")
			}
		})
	}
}

// What broke says more than a story that could not happen; beyond that the order stays.
func TestWhatIsBrokenComesBeforeWhatCouldNotHappen(t *testing.T) {
	red := func(failure string, outcome failures.Outcome) judge.Verdict {
		return judge.Verdict{Failure: failure, Outcome: outcome.String(), Required: true}
	}
	r := Report{Verdicts: []judge.Verdict{
		red("a", failures.NotTested), red("b", failures.NotTested), red("c", failures.Broken), red("d", failures.NotPlayed), red("e", failures.Broken),
	}}
	var shown []string
	for _, v := range r.Red() {
		shown = append(shown, v.Failure)
	}
	require.Equal(t, []string{"c", "d", "e", "a", "b"}, shown)
	require.Equal(t, "a", Report{Verdicts: r.Verdicts[:2]}.Red()[0].Failure)
}

// A lock that survives all the failures, and that a search breaks where ours holds.
func TestLockThatASearchBreaksIsRefused(t *testing.T) {
	t.Parallel()
	e := exercise(t, "4")
	passes, err := program(t).Judge(t.Context(), solutionOf(t, e), proves(t, i18n.English).task(e))
	require.NoError(t, err)
	require.True(t, e.passed(passes))
	questions, err := Exploring{Property: "wrong-delete", Env: "async", Bound: 3}.questions(Sought{})
	require.NoError(t, err)
	searched, err := program(t).search(t.Context(), startOf(t, e), e.task(), questions, enoughSchedules)
	require.NoError(t, err)
	passes.Found = searched.Found
	require.False(t, e.passed(passes))
	screen := Result{Exercise: e, Report: passes}.Screen(View{Width: 120})
	require.Contains(t, screen, "✗ a schedule breaks it\n\nYour lock survives all ")
	require.Contains(t, screen, "BROKEN: wrong delete: ")
	require.True(t, exercise(t, "3").passed(Report{Verdicts: passed3(passes), Found: passes.Found}), "ours of stage 3 is broken as cheaply")
}

// passed3 are the verdicts that exercise 3 asks for.
func passed3(r Report) []judge.Verdict {
	e, _ := Find("3")
	return r.which(func(v judge.Verdict) bool { return slices.Contains(e.Required(), v.Failure) })
}

// The whole lock and the documents' locks leave a refused Unlock to the lease.
func TestWhoLeavesARefusedUnlockToTheLeasePasses(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"6", "r10"} {
		e, report := judged(t, id, solutionOf(t, exercise(t, id)))
		require.True(t, report.Passed(e.Required()), "%s: %+v %+v", id, report.Cause, report.Red())
	}
}

// unhurried frees the lock a moment later, if Redis has refused.
var unhurried = Material{Column: "4", Edits: before("		return fmt.Errorf(\"mylock: unlock %s: %w\", m.key, err)\n", `		value := m.value
		m.value = ""
		time.AfterFunc(100*time.Millisecond, func() { _ = unlockScript.Run(context.Background(), m.rdb, []string{m.key}, value).Err() })
`)}

func TestRefusedUnlockMayBeMadeUpForInTheBackground(t *testing.T) {
	t.Parallel()
	_, report := judged(t, "4", filesOf(t, unhurried))
	require.Nil(t, report.Cause)
}

// What the last exercise asks for does for a lock what the whole one does.
func TestLimitedHoldPassesTheLastExercise(t *testing.T) {
	t.Parallel()
	e, report := judged(t, "6", filesOf(t, limited))
	require.True(t, report.Passed(e.Required()), "%+v %+v", report.Cause, report.Red())
}

// limited is the last step's lock with the option WithMaxHold, an Unlock that is sent again, and a
// waiter that looks now and then, as the hints have it.
var limited = Material{Column: "6.5", Edits: []Edit{
	{"mutex.go", "	renewed bool // a watchdog renews the lease\n", "	renewed bool // a watchdog renews the lease\n	maxHold time.Duration\n"},
	{"watchdog.go", "// renewScript gives", "// WithMaxHold limits a hold.\nfunc WithMaxHold(d time.Duration) Option { return func(m *Mutex) { m.maxHold = d } }\n\n// renewScript gives"},
	{"watchdog.go", "	ended  chan struct{}      // closed when they have ended\n", "	ended  chan struct{}      // closed when they have ended\n	latest time.Time\n"},
	{"watchdog.go", "	w.until = sent.Add(m.ttl)\n	w.lease = ", "	w.until, w.latest = sent.Add(m.ttl), sent.Add(m.maxHold)\n	w.lease = "},
	{"watchdog.go", "		attempt, cancel := context.WithTimeout(ctx, w.ttl/3)\n", `		if w.maxHold > 0 && time.Until(w.latest) < w.ttl {
			return
		}
		attempt, cancel := context.WithTimeout(ctx, w.ttl/3)
`},
	{"wait.go", "time.After(left + time.Millisecond)", "time.After(min(left, m.ttl/3) + time.Millisecond)"},
	{"ownership.go", "	case <-ctx.Done():\n", "	case <-ctx.Done():\n	case <-time.After(o.ttl / 60):\n		return nil, ErrLocked\n"},
	{"ownership.go", "	for range attempts {\n", "	passes := time.Now().Add(o.ttl / 3)\n	for tries := 0; tries < attempts; tries++ {\n"},
	{"ownership.go", "		case isRefusal(err):\n", `		case (redis.IsReadOnlyError(err) || redis.HasErrorPrefix(err, "MOVED")) && time.Now().Before(passes):
			time.Sleep(o.ttl / 600)
			tries--
			continue
		case isRefusal(err):
`},
}}

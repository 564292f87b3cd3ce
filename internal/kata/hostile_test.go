package kata

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata/judge"
)

// Lines of stage 4's lock.
const (
	wait       = "case <-time.After(pollInterval):"
	attempt    = "	value := uuid.NewString()\n"
	unlock     = "	if m.value == \"\" {\n		return ErrNotHeld\n	}\n"
	deleted    = "	if deleted == 0 {"
	key        = "key: keyPrefix + name,"
	nilled     = "	if errors.Is(err, redis.Nil) {\n		return false, nil\n"
	refused    = "		return false, nil\n	}\n	if err"
	granted    = "	m.value = value\n	return true, nil\n"
	valueField = "	value string // what this owner wrote into the key; \"\" while not held\n"
	failing    = "		return false, fmt.Errorf(\"mylock: lock %s: %w\", m.key, err)\n"
)

// onOOM is true for Redis's own refusal alone, which no ordinary day has.
const onOOM = "		if err.Error()[:3] == \"OOM\" {\n"

func instead(old, text string) []Edit { return []Edit{{"mutex.go", old, text}} }
func before(old, text string) []Edit  { return instead(old, text+old) }
func after(old, text string) []Edit   { return instead(old, old+text) }
func importing(name string, edits ...Edit) []Edit {
	return append(edits, after("	\"fmt\"\n", "	\""+name+"\"\n")...)
}

// hostile are locks that no test could survive in its own process.
var hostile = []struct {
	name  string
	edits []Edit
	kind  string
	says  string
	where string // a piece of the line that has to be named
}{
	{"loop", after(attempt, "	for tries := 0; value != \"\"; tries++ {\n		value = value[:]\n	}\n"), judge.EndlessLoop, "TryLock runs without end", "value"},
	{"block", after(attempt, "	select {}\n"), judge.BlocksForEver, "Lock blocks for ever", "select {}"},
	{"blockunlock", before(unlock, "	<-make(chan int)\n"), judge.BlocksForEver, "Unlock blocks for ever", "<-make(chan int)"},
	{
		"panics", after(attempt, "	var holds map[string]int\n	holds[value]++\n"),
		judge.Panics, "Lock ends in a panic: assignment to entry in nil map at ", "holds[value]++",
	},
	{
		"panicslater", before(granted, "	go func() { panic(\"the watchdog has no bone\") }()\n"),
		judge.Panics, "the watchdog has no bone", "go func() { panic",
	},
	{"sleeps", before(attempt, "	time.Sleep(3 * time.Hour)\n"), judge.Sleeps, "Lock sleeps", "time.Sleep(3 * time.Hour)"},
	{"leaks", before(granted, "	go func() {\n		for {\n			time.Sleep(time.Second)\n		}\n	}()\n"), judge.Leaks, "still runs", "time.Sleep(time.Second)"},
	{"listens", before(granted, "	m.rdb.Subscribe(ctx, m.key).Channel()\n"), judge.KeepsOpen, "still listens", ""},
	{"leaveskey", after(attempt, "	_ = m.rdb.Do(ctx, \"SET\", m.key+\":lease\", value, \"NX\", \"PX\", m.ttl.Milliseconds()).Err()\n	if m.rdb.Get(ctx, m.key+\":lease\").Val() != value {\n		return false, nil\n	}\n"), judge.NoDay, "Redis still has lock:order:1001:lease", ""},
	{"overwrites", before(refused, "		m.rdb.Set(ctx, m.key, value, m.ttl)\n"), judge.NoDay, "B's SET overwrites the lock of A (A1)", ""},
	{"leaksquietly", before(granted, "	go func() { select {} }()\n"), judge.Leaks, "still runs", "go func() { select {} }()"},
	{
		"mutexheld", importing("sync", append(after(valueField, "	mu sync.Mutex\n"), after(attempt, "	m.mu.Lock()\n	defer m.mu.Unlock()\n")...)...),
		judge.HoldsMutex, "that another call holds while it waits for Redis at", "m.mu.Lock()",
	},
	{"floods", instead(wait, "default:"), judge.Floods, "TryLock at mutex.go", "m.rdb.Do(ctx, \"SET\""},
	{"closes", before(deleted, "	_ = m.rdb.Close()\n"), judge.ClosesClient, "closed the client that it was given", ""},
	{"ownkeys", instead(key, "key: keyPrefix + name + uuid.NewString(),"), judge.OtherKeys, "A's key is", ""},
	{"onekey", instead(key, "key: keyPrefix,"), judge.OtherKeys, `is refused because the one named "order:1001" is held`, ""},
	{"flushes", before(deleted, "	m.rdb.FlushAll(ctx)\n"), judge.OtherKeys, "a key of the business", ""},
	{
		"bothatonce", instead(nilled, "	if errors.Is(err, redis.Nil) {\n		return true, err\n"),
		judge.Nonsense, "two things at once", "",
	},
	{"yes", after(attempt, "	if value != \"\" {\n		return true, nil\n	}\n"), judge.Nonsense, "there is no key in Redis", ""},
	{
		"betweenruns", append(instead("const (\n", "var gate chan bool\n\nconst (\n"),
			after(attempt, "	if gate == nil {\n		gate = make(chan bool, 1)\n	}\n	gate <- true\n	<-gate\n")...),
		judge.OtherRun, "keeps a channel or a timer from one run to the next", "gate <- true",
	},
	{"exits", importing("os", after(attempt, "	os.Exit(3)\n")...), judge.Exits, "with status 3", ""},
	{"exitswell", importing("os", after(attempt, "	os.Exit(0)\n")...), judge.Exits, "with status 0", ""},
	{ // the runtime names the function's first line
		"recursion", after(attempt, "	if value != \"\" {\n		return m.TryLock(ctx)\n	}\n"), judge.Panics, "goroutine stack exceeds", "",
	},
	{
		"hoards", after(attempt, "	for s := [][]byte{}; value != \"\"; {\n		s = append(s, make([]byte, 1<<20))\n	}\n"),
		judge.TooMuchMemory, "more than half a gigabyte", "",
	},
	// The others survive an ordinary day, and misbehave where only a search leads them:
	// after a command that Redis has refused.
	{
		"loopsonrefusal", before(failing, onOOM+"		for {\n			value += \"\"\n		}\n		}\n"),
		judge.EndlessLoop, "TryLock runs without end", "value += ",
	},
	{
		"panicsonrefusal", before(failing, onOOM+"		var holds map[string]int\n		holds[value]++\n		}\n"),
		judge.Panics, "TryLock ends in a panic: assignment to entry in nil map", "",
	},
	{"panicsbeside", before(failing, onOOM+"		go func() { panic(\"no lock today\") }()\n		}\n"), judge.Panics, "no lock today", "go func() { panic"},
	{"leaksonrefusal", before(failing, onOOM+"		go func() { select {} }()\n		}\n"), judge.Leaks, "still runs", "go func() { select {} }()"},
}

func hostileMaterials() (all []Material) {
	for _, h := range hostile {
		all = append(all, Material{Column: "4", Edits: h.edits})
	}
	return all
}

// requireCause wants the cause to name its kind, what is so, and a line of mutex.go that
// contains a piece.
func requireCause(t *testing.T, cause *judge.Cause, kind, says, source, piece string) {
	t.Helper()
	require.NotNil(t, cause)
	require.Equal(t, kind, cause.Kind, cause.Text)
	require.Contains(t, cause.Text.Error(), says)
	require.NotEmpty(t, cause.Next)
	named := piece == ""
	for i, line := range strings.Split(source, "\n") {
		named = named || strings.Contains(line, piece) && strings.Contains(cause.Text.Error(), fmt.Sprintf("mutex.go:%d", i+1))
	}
	require.True(t, named, "the line is not named that has %q: %s", piece, cause.Text)
}

// Which of these the runtime says is a matter of chance: of what it was about to get.
func TestRunThatTheSystemRefusesMemoryTakesTooMuch(t *testing.T) {
	for said, kind := range map[string]string{
		"fatal error: runtime: out of memory\n":                                           judge.TooMuchMemory,
		"fatal error: runtime: cannot allocate memory\n":                                  judge.TooMuchMemory,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT\n": judge.TooMuchMemory,
		"runtime: failed to create new OS thread (have 5 already; errno=11)\n":            judge.TooMuchMemory,
		"fatal error: all goroutines are asleep - deadlock!\n":                            judge.Panics,
		"Out of memory? Not at all\n":                                                     judge.Exits,
	} {
		require.Equal(t, kind, new(Program).endedBadly(errors.New("exit status 2"), said, time.Second, false).Kind, said)
	}
}

// stuckSoon is after how long a lock of these is stuck: a healthy one takes milliseconds.
const stuckSoon = 400 * time.Millisecond

func TestHostileLocksGetAVerdictThatNamesTheCause(t *testing.T) {
	t.Parallel()
	e := exercise(t, "4")
	questions, err := Exploring{Property: "leak", Env: "refusal", Bound: 2}.questions(Sought{})
	require.NoError(t, err)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			files := filesOf(t, Material{Column: "4", Edits: h.edits})
			task := judge.Task{Required: []string{"second-client"}, Patience: provingPatience}
			if h.kind == judge.EndlessLoop || h.kind == judge.HoldsMutex {
				task.Stuck = stuckSoon
			}
			judge := func() (Report, error) { return program(t).Judge(t.Context(), files, task) }
			if h.edits[0].Old == failing || h.name == "exits" {
				judge = func() (Report, error) { return program(t).search(t.Context(), files, task, questions, 0) }
			}
			report, err := judge()
			require.NoError(t, err)
			requireCause(t, report.Cause, h.kind, h.says, files["mutex.go"], h.where)
			if strings.HasSuffix(h.name, "onrefusal") {
				require.Equal(t, "the search in refusal", report.Cause.During)
			}
			require.False(t, report.Passed(task.Required))
			screen := Explored{e, report}.Screen(View{Width: 120})
			require.Contains(t, screen, "✗ your lock "+h.kind)
			require.NotContains(t, screen, "Nothing is broken")
		})
	}
}

// idle never takes the lock.
var idle = Material{Column: "4", Edits: after(attempt, "	if value != \"\" {\n		return false, nil\n	}\n")}

// forAnyLock finds the hold of whichever lock a context carries.
var forAnyLock = Material{Column: "6.3", Edits: []Edit{
	{"hold.go", "holdKey{m.rdb, m.key}, h)", "holdKey{}, h)"}, {"hold.go", "ctx.Value(holdKey{m.rdb, m.key})", "ctx.Value(holdKey{})"},
}}

// listeningOn ends no subscription.
var listeningOn = Material{Column: "6.4", Edits: []Edit{{"wait.go", "	defer sub.Close()\n", ""}}}

// functional needs a function of Redis, which the embedded one does not have.
var functional = Material{Column: "4", Edits: instead("unlockScript.Run(ctx, m.rdb, []string{m.key}, m.value).Int()", "m.rdb.Do(ctx, \"FCALL\").Int()")}

// hasty gives PX seconds.
var hasty = Material{Column: "4", Edits: instead("m.ttl.Milliseconds()", "int64(m.ttl.Seconds())")}

// counting has a counter beside its key, asking a key of who asks, and forgetting frees nothing
// but a counter.
var (
	counting   = Material{Column: "4", Edits: before(granted, "	m.rdb.Incr(ctx, m.key+\":epoch\")\n")}
	asking     = Material{Column: "4", Edits: before(refused, "		m.rdb.Set(ctx, m.key+\":asked\", value, 50*time.Millisecond)\n")}
	forgetting = Material{Column: "4", Edits: append(instead("unlockScript.Run(ctx, m.rdb, []string{m.key}, m.value).Int()",
		"m.rdb.Del(ctx, m.key+\":epoch\").Result()\n	_ = unlockScript"), counting.Edits...)}
)

func TestKeysBesideTheLockAreNotTakenForIt(t *testing.T) {
	t.Parallel()
	for _, m := range []Material{counting, asking} {
		e, report := judged(t, "4", filesOf(t, m))
		require.True(t, report.Passed(e.Required()), (Result{Exercise: e, Report: report}).Screen(View{Width: 120}))
	}
	_, report := judged(t, "4", filesOf(t, forgetting))
	require.Contains(t, report.Cause.Text.Error(), "Lock asks for a lock that A has freed and does not get it")
}

// heedless waits on when its context has ended.
var heedless = Material{Column: "4", Edits: []Edit{
	{"mutex.go", "held, err := m.TryLock(ctx)", "held, err := m.TryLock(context.WithoutCancel(ctx))"},
	{"mutex.go", "case <-ctx.Done():", "case <-make(chan int):"},
}}

// patient waits in TryLock too.
var patient = Material{Column: "4", Edits: []Edit{
	{"mutex.go", "	if errors.Is(err, redis.Nil) {\n		return false, nil\n	}\n", `	if errors.Is(err, redis.Nil) {
		select {
		case <-ctx.Done():
			return false, nil
		case <-time.After(2 * time.Second):
		}
		return m.TryLock(ctx)
	}
`},
}}

// The failures pass over a lock that polls, that has no tokens, or that nobody ever
// gets: none of them may pass an exercise.
func TestLockThatSurvivesByDoingNothingDoesNotPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		exercise string
		lock     Material
		says     string
	}{
		{"6.4", Material{Column: "6.3"}, "B waits for 10s while nothing happens, and sends 101 commands: it polls."},
		{"6.5", Material{Column: "6.4"}, "A's hold has the token 0, and B's, which came after it, has 0."},
		{"6.3", forAnyLock, "A holds the lock named \"order:1001\". With the context of that hold it takes the one named \"order:1001:another\", " +
			"and is told that it has it, but there is no new key in Redis: it has taken the first one twice."},
		{"6.4", listeningOn, "B has waited 3 times, one time after the other, and has 3 connections that still listen."},
		{"4", functional, "The failures are played on an embedded Redis, and that has no FCALL, which A sends: " +
			"ERR unknown command `FCALL`, with args beginning with: "},
		{"4", hasty, "A asked for a lease of 30s, and its SET set 30ms"},
		{"4", heedless, "A holds the lock. Lock of B has a context that ends after 3s, and is still under way 2.1s later."},
		{"4", idle, "Lock asks for a free lock and does not get it: mylock: wait for lock:order:1001: context deadline exceeded"},
	} {
		e, report := judged(t, c.exercise, filesOf(t, c.lock))
		require.NotNil(t, report.Cause)
		require.Equal(t, c.says, report.Cause.Text.Error())
		require.False(t, report.Passed(e.Required()))
		if screen := (Result{Exercise: e, Report: report}).Screen(View{Width: 120}); len(report.Red()) == 0 {
			require.Contains(t, screen, "✗ your lock "+report.Cause.Kind)
		}
	}
}

// A lock whose Lock takes no context, or heeds none, and one whose TryLock waits, can be graded.
func TestLockThatWaitsWhereItShouldNotIsGraded(t *testing.T) {
	t.Parallel()
	task := exercise(t, "4").task()
	task.Leaks = true
	for _, c := range []struct {
		lock      Material
		kind      string
		good, bad string
	}{
		{heedless, judge.IgnoresContext, "delete-foreign", "waiter-gives-up"},
		{patient, judge.WaitsInTry, "loss-hidden-at-unlock", "second-client"},
	} {
		report, err := program(t).Judge(t.Context(), filesOf(t, c.lock), task)
		require.NoError(t, err)
		require.Equal(t, c.kind, report.Cause.Kind)
		require.True(t, report.Verdict(c.good).Good)
		require.False(t, report.Verdict(c.bad).Good)
	}
}

func TestFilesBelowAreThereToBeEmbedded(t *testing.T) {
	from := fstest.MapFS{
		"mutex.go":      {Data: []byte("package lock\n\nvar (\n\t//go:embed lua/lock.lua\n\tlock string\n)\n\n//go:embed all:more [\nvar more embed.FS\n")},
		"lua/lock.lua":  {Data: []byte("return 1")},
		"lua/other.lua": {Data: []byte("return 2")},
		"more/a/b.txt":  {Data: []byte("b")},
	}
	files, err := readLock(from, ".")
	require.NoError(t, err)
	require.NoError(t, files.addEmbedded(from))
	require.Equal(t, []string{"lua/lock.lua", "more/a/b.txt", "mutex.go"}, files.names())
	require.Equal(t, "return 1", files["lua/lock.lua"])
}

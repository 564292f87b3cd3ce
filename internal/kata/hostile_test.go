package kata

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata/judge"
)

// repositoryRoot is the module's folder, for tests.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

const (
	wait    = "case <-time.After(pollInterval):"
	attempt = "	value := uuid.NewString()\n"
	unlock  = "	if m.value == \"\" {\n		return ErrNotHeld\n	}\n"
	fields  = "	value string // what this owner wrote into the key; \"\" while not held\n"
)

// hostile are locks that no test could survive in its own process.
var hostile = []struct {
	name  string
	edits []Edit
	kind  string
	says  string
	where string // a piece of the line that has to be named
}{
	{
		"loop", []Edit{{"mutex.go", attempt, attempt + "	for tries := 0; value != \"\"; tries++ {\n		value = value[:]\n	}\n"}},
		judge.EndlessLoop, "TryLock runs without end", "value",
	},
	{
		"block", []Edit{{"mutex.go", attempt, attempt + "	select {}\n"}},
		judge.BlocksForEver, "Lock blocks for ever", "select {}",
	},
	{
		"blockunlock", []Edit{{"mutex.go", unlock, "	<-make(chan int)\n" + unlock}},
		judge.BlocksForEver, "Unlock blocks for ever", "<-make(chan int)",
	},
	{
		"panics", []Edit{{"mutex.go", attempt, attempt + "	var holds map[string]int\n	holds[value]++\n"}},
		judge.Panics, "Lock ends in a panic: assignment to entry in nil map", "",
	},
	{
		"panicslater", []Edit{{"mutex.go", granted, "	go func() { panic(\"the watchdog has no bone\") }()\n" + granted}},
		judge.Panics, "the watchdog has no bone", "go func() { panic",
	},
	{
		"sleeps", []Edit{{"mutex.go", attempt, "	time.Sleep(3 * time.Hour)\n" + attempt}},
		judge.Sleeps, "Lock sleeps", "time.Sleep(3 * time.Hour)",
	},
	{
		"leaks", []Edit{{"mutex.go", granted, "	go func() {\n		for {\n			time.Sleep(time.Second)\n		}\n	}()\n" + granted}},
		judge.Leaks, "still runs", "time.Sleep(time.Second)",
	},
	{
		"leaksquietly", []Edit{{"mutex.go", granted, "	go func() { select {} }()\n" + granted}},
		judge.Leaks, "still runs", "go func() { select {} }()",
	},
	{
		"mutexheld", []Edit{
			{"mutex.go", fields, fields + "	mu sync.Mutex\n"},
			{"mutex.go", attempt, "	m.mu.Lock()\n	defer m.mu.Unlock()\n" + attempt},
			{"mutex.go", "	\"fmt\"\n", "	\"fmt\"\n	\"sync\"\n"},
		},
		judge.HoldsMutex, "that another call holds while it waits for Redis at", "m.mu.Lock()",
	},
	{
		"floods", []Edit{{"mutex.go", wait, "default:"}},
		judge.Floods, "TryLock at mutex.go", "m.rdb.Do(ctx, \"SET\"",
	},
	{
		"closes", []Edit{{"mutex.go", "	if deleted == 0 {", "	_ = m.rdb.Close()\n	if deleted == 0 {"}},
		judge.ClosesClient, "closed the client that it was given", "",
	},
	{
		"ownkeys", []Edit{{"mutex.go", "key: keyPrefix + name,", "key: keyPrefix + name + uuid.NewString(),"}},
		judge.OtherKeys, "A's key is", "",
	},
	{
		"onekey", []Edit{{"mutex.go", "key: keyPrefix + name,", "key: keyPrefix,"}},
		judge.OtherKeys, `is refused because the one named "order:1001" is held`, "",
	},
	{
		"flushes", []Edit{{"mutex.go", "	if deleted == 0 {", "	m.rdb.FlushAll(ctx)\n	if deleted == 0 {"}},
		judge.OtherKeys, "a key of the business", "",
	},
	{
		"bothatonce", []Edit{{"mutex.go", "	if errors.Is(err, redis.Nil) {\n		return false, nil\n", "	if errors.Is(err, redis.Nil) {\n		return true, err\n"}},
		judge.Nonsense, "two things at once", "",
	},
	{
		"yes", []Edit{{"mutex.go", attempt, attempt + "	if value != \"\" {\n		return true, nil\n	}\n"}},
		judge.Nonsense, "there is no key in Redis", "",
	},
	{
		"exits", []Edit{
			{"mutex.go", attempt, attempt + "	os.Exit(3)\n"},
			{"mutex.go", "	\"fmt\"\n", "	\"fmt\"\n	\"os\"\n"},
		},
		judge.Exits, "with status 3", "",
	},
	{
		"exitswell", []Edit{
			{"mutex.go", attempt, attempt + "	os.Exit(0)\n"},
			{"mutex.go", "	\"fmt\"\n", "	\"fmt\"\n	\"os\"\n"},
		},
		judge.Exits, "with status 0", "",
	},
	{
		"recursion", []Edit{{"mutex.go", attempt, attempt + "	if value != \"\" {\n		return m.TryLock(ctx)\n	}\n"}},
		judge.Panics, "goroutine stack exceeds", "", // the runtime names the function's first line
	},
	{
		"hoards", []Edit{{"mutex.go", attempt, attempt + "	for s := [][]byte{}; value != \"\"; {\n		s = append(s, make([]byte, 1<<20))\n	}\n"}},
		judge.TooMuchMemory, "more than half a gigabyte", "",
	},
}

func TestHostileLocksGetAVerdictThatNamesTheCause(t *testing.T) {
	t.Parallel()
	program, locks := benchOf(t)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			report, err := program.Judge(t.Context(), judge.Task{Lock: h.name, Required: []string{"second-client"}})
			require.NoError(t, err)
			require.NotNil(t, report.Cause, "%+v", report.Verdicts)
			t.Logf("%s: %s %s", report.Cause.Kind, report.Cause.Text, report.Cause.Next)
			require.Equal(t, h.kind, report.Cause.Kind, report.Cause.Text)
			require.Contains(t, report.Cause.Text, h.says)
			if h.where != "" {
				requireNamesLine(t, report.Cause.Text, locks[h.name]["mutex.go"], h.where)
			}
			require.NotEmpty(t, report.Cause.Next)
			require.False(t, report.Passed([]string{"second-client"}))
		})
	}
}

// hostileLater survive an ordinary day, and misbehave where only a search leads them:
// after a command that Redis has refused.
var hostileLater = []struct {
	name  string
	edits []Edit
	kind  string
	says  string
	where string
}{
	{
		"loopsonrefusal", []Edit{{"mutex.go", refused, onOOM + "		for {\n			value += \"\"\n		}\n		}\n" + refused}},
		judge.EndlessLoop, "TryLock runs without end", "value += ",
	},
	{
		"panicsonrefusal", []Edit{{"mutex.go", refused, onOOM + "		var holds map[string]int\n		holds[value]++\n		}\n" + refused}},
		judge.Panics, "TryLock ends in a panic: assignment to entry in nil map", "",
	},
	{
		"panicsbeside", []Edit{{"mutex.go", refused, onOOM + "		go func() { panic(\"no lock today\") }()\n		}\n" + refused}},
		judge.Panics, "no lock today", "go func() { panic",
	},
	{
		"leaksonrefusal", []Edit{{"mutex.go", refused, onOOM + "		go func() { select {} }()\n		}\n" + refused}},
		judge.Leaks, "still runs", "go func() { select {} }()",
	},
}

// onOOM is true for Redis's own refusal alone, which no ordinary day has.
const onOOM = "		if err.Error()[:3] == \"OOM\" {\n"

const refused = "		return false, fmt.Errorf(\"mylock: lock %s: %w\", m.key, err)\n"

func TestSearchSurvivesHostileLocks(t *testing.T) {
	t.Parallel()
	program, locks := benchOf(t)
	e, _ := Find(4)
	questions, err := Exploring{Property: "leak", Env: "refusal", Bound: 2}.questions(Sought{})
	require.NoError(t, err)
	later := slices.Clone(hostileLater)
	for _, h := range hostile {
		if h.name == "loop" || h.name == "panics" || h.name == "block" || h.name == "exits" {
			later = append(later, h)
		}
	}
	for _, h := range later {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			x := Explored{Exercise: e}
			require.NoError(t, x.search(t.Context(), program, e.task(h.name), questions))
			require.NotNil(t, x.Cause, "%+v", x.Found)
			require.Equal(t, h.kind, x.Cause.Kind, x.Cause.Text)
			require.Contains(t, x.Cause.Text, h.says)
			if strings.HasSuffix(h.name, "onrefusal") {
				require.Equal(t, "the search in refusal", x.Cause.During)
			}
			if h.where != "" {
				requireNamesLine(t, x.Cause.Text, locks[h.name]["mutex.go"], h.where)
			}
			require.True(t, x.IsBroken())
			screen := x.Screen(View{Width: 120})
			require.Contains(t, screen, "✗ your lock "+h.kind)
			require.NotContains(t, screen, "Nothing is broken")
			require.Less(t, time.Since(begun), (e.task(h.name)).Longest()+searchLimit)
		})
	}
}

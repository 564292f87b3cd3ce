package interpreter_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
)

// edited is the text of stage 5, with one piece in place of another.
func edited(t *testing.T, file, old, now string) map[string]string {
	t.Helper()
	files := filesOf(t, columns.Must("5").Dir)
	require.Equal(t, 1, strings.Count(files[file], old), old)
	files[file] = strings.Replace(files[file], old, now, 1)
	return files
}

// lineOf is the line of a file that has a text.
func lineOf(t *testing.T, text, part string) int {
	t.Helper()
	before, _, found := strings.Cut(text, part)
	require.True(t, found, part)
	return strings.Count(before, "\n") + 1
}

const beforeTry = "	value := uuid.NewString()\n"

// A lock that goes on without end, or in great numbers, is stopped at the line that does
// it, while the process goes on.
func TestLockThatDoesNotEndIsStoppedAtItsLine(t *testing.T) {
	for name, c := range map[string]struct{ code, at, says string }{
		"endless loop":      {"for {\n\t}\n", "for {", "endless loop"},
		"loop on Redis":     {"for {\n\t\tm.rdb.Get(ctx, m.key).Err()\n\t}\n", "", "endless loop"},
		"loop in time":      {"for {\n\t\ttime.Sleep(time.Nanosecond)\n\t}\n", "", "goes on without end"},
		"loop in goroutine": {"go func() {\n\t\tfor n := 0; ; n++ {\n\t\t}\n\t}()\n", "for n := 0", "endless loop"},
		"goroutines":        {"for {\n\t\tgo func() { select {} }()\n\t}\n", "go func()", "goroutines at once"},
		"recursion":         {"var again func()\n\tagain = func() { again() }\n\tagain()\n", "again = func", "calls within calls"},
		"memory":            {"list := []int{1}\n\tfor {\n\t\tlist = append(list, list...)\n\t}\n", "append(", "elements"},
		"long text":         {"s := \"x\"\n\tfor {\n\t\ts += s\n\t}\n", "s += s", "bytes"},
		"huge slice":        {"_ = make([]byte, 1<<40)\n", "make(", "elements"},
		"recovers always":   {"defer func() { recover() }()\n\tfor {\n\t}\n", "for {", "endless loop"},
		"mutex":             {"if len(value) == 0 {}\n\tmu.Lock()\n\tm.rdb.Get(ctx, \"x\")\n\tmu.Unlock()\n", "mu.Lock()", "a mutex that stays held"},
		"unlock":            {"if len(value) == 0 {}\n\tmu.Unlock()\n", "mu.Unlock()", "Unlock of a mutex that nobody holds"},
		"much of it":        {"list := [][]byte{}\n\tfor {\n\t\tlist = append(list, make([]byte, 1<<22))\n\t}\n", "append(", "half a gigabyte"},
		"long texts":        {"list := map[int]string{}\n\tfor {\n\t\tlist[len(list)] = fmt.Sprint(len(list), string(make([]byte, 1<<22)))\n\t}\n", "list[len", "half a gigabyte"},
		"panic elsewhere":   {"go func() { panic(\"oh\") }()\n", "panic(", "panic: oh"},
		"panic in a timer":  {"time.AfterFunc(time.Second, func() { var p *Mutex; p.key = \"\" })\n", "p.key", "nil pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			files := edited(t, "mutex.go", beforeTry, beforeTry+"\t"+c.code)
			files["mutex.go"] = strings.Replace(files["mutex.go"], "const (", "var mu sync.Mutex\n\nconst (", 1)
			files["mutex.go"] = strings.Replace(files["mutex.go"], "\t\"time\"\n", "\t\"sync\"\n\t\"time\"\n", 1)
			lock, problems := interpreter.Load("mine", files)
			require.Empty(t, problems)
			begun := time.Now()
			config := lock.Subject("mine").Config()
			_, _ = world.Run(t, config, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				call := a.StartTryLock(world.Within(time.Minute))
				b.TryLock(world.Within(time.Minute))
				w.Sleep(2 * time.Second)
				call.Wait()
			})
			require.NotNil(t, lock.Trouble())
			require.Contains(t, lock.Trouble().Text, c.says)
			require.Equal(t, "mutex.go", lock.Trouble().File)
			if c.at != "" {
				require.Equal(t, lineOf(t, files["mutex.go"], c.at), lock.Trouble().Line)
			}
			require.Less(t, time.Since(begun), 10*time.Second)
			_, err := config.New(nil, "", 0)
			if !strings.HasPrefix(lock.Trouble().Text, "panic") {
				require.ErrorContains(t, err, c.says, "nothing of it runs any more")
			}
		})
	}
}

// A channel of another run ends the process of a compiled lock, and would end this one.
func TestChannelOfAnotherRunIsToldWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ kept, code, at string }{
		"send":       {"var kept chan int", "if kept == nil {\n\t\tkept = make(chan int, 9)\n\t}\n\tkept <- 1\n", "kept <-"},
		"receive":    {"var kept chan int", "if kept == nil {\n\t\tkept = make(chan int)\n\t\tclose(kept)\n\t}\n\t<-kept\n", "<-kept"},
		"two values": {"var kept chan int", "if kept == nil {\n\t\tkept = make(chan int)\n\t\tclose(kept)\n\t}\n\t_, _ = <-kept\n", "_, _ = <-kept"},
		"close":      {"var kept []chan int", "for _, ch := range kept {\n\t\tclose(ch)\n\t}\n\tkept = []chan int{make(chan int)}\n", "close(ch)"},
		"range":      {"var kept chan int", "if kept == nil {\n\t\tkept = make(chan int)\n\t\tclose(kept)\n\t}\n\tfor range kept {\n\t}\n", "for range"},
		"select":     {"var kept = map[string]chan int{}", "if kept[m.key] == nil {\n\t\tkept[m.key] = make(chan int)\n\t}\n\tselect {\n\tcase <-kept[m.key]:\n\tdefault:\n\t}\n", "select {\n\tcase <-kept"},
		"timer":      {"var kept *time.Timer", "if kept == nil {\n\t\tkept = time.NewTimer(time.Millisecond)\n\t}\n\tselect {\n\tcase <-kept.C:\n\tdefault:\n\t}\n", "select {\n\tcase <-kept"},
		"group":      {"var kept sync.WaitGroup", "kept.Add(1)\n\tkept.Done()\n", "kept.Add"},
		"waited for": {"var kept sync.WaitGroup", "kept.Add(1)\n\tkept.Done()\n\tkept.Wait()\n", ""},
		"before all": {"var kept = make(chan int, 99)", "kept <- 1\n\t<-kept\n", ""},
		"of a run":   {"var kept = map[string]chan int{}", "kept[m.key] = make(chan int, 1)\n\tkept[m.key] <- 1\n\tclose(kept[m.key])\n", ""},
		"ended":      {"", "over, end := context.WithCancel(ctx)\n\tend()\n\t<-over.Done()\n", ""},
		"none":       {"var kept chan int", "select {\n\tcase <-kept:\n\tdefault:\n\t}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := edited(t, "mutex.go", beforeTry, beforeTry+"\t"+c.code)
			files["mutex.go"] = strings.Replace(files["mutex.go"], "\t\"time\"\n", "\t\"sync\"\n\t\"time\"\n", 1) + "\nvar _ sync.Mutex\n\n" + c.kept + "\n"
			lock, problems := interpreter.Load("mine", files)
			require.Empty(t, problems)
			for run := range 3 {
				_, err := world.Run(t, lock.Subject("mine").Config(), func(w *world.World) {
					a, b := w.Client("A"), w.Client("B")
					a.TryLock()
					w.Sleep(time.Second)
					b.TryLock()
				})
				if c.at != "" && run > 0 {
					require.Equal(t, lineOf(t, files["mutex.go"], c.at), lock.Trouble().Line)
					require.Regexp(t, "a channel or a timer of another run|a sync.WaitGroup that more than one run uses is more than can be run here", lock.Trouble().Text)
					return
				}
				require.NoError(t, err)
				require.Nil(t, lock.Trouble())
			}
		})
	}
}

// A panic in a call is what it is for a compiled lock, and its line is known.
func TestPanicInACallIsItsResultAndHasItsLine(t *testing.T) {
	files := edited(t, "mutex.go", beforeTry, beforeTry+"\tvar none *Mutex\n\tnone.key = value\n")
	lock, problems := interpreter.Load("mine", files)
	require.Empty(t, problems)
	trace, err := world.Run(t, lock.Subject("mine").Config(), func(w *world.World) { w.Client("A").TryLock() })
	require.NoError(t, err)
	last := trace.Events[len(trace.Events)-1]
	require.Equal(t, "panic: runtime error: invalid memory address or nil pointer dereference", last.Result.Error)
	require.Equal(t, lineOf(t, files["mutex.go"], "none.key"), lock.Trouble().Line)
}

// sentAt are the lines at which a lock sends each command, while it is held for a second.
func sentAt(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	lock, problems := interpreter.Load("mine", files)
	require.Empty(t, problems)
	trace, err := world.Run(t, lock.Subject("mine").Config(), func(w *world.World) {
		w.Client("A").TryLock()
		w.Sleep(time.Second)
	})
	require.NoError(t, err)
	lines := map[string]string{}
	for _, e := range trace.Events {
		if e.Kind == world.Sent {
			lines[e.Command[0]] = path.Base(e.Source.String())
		}
	}
	return lines
}

// What is deferred is called at the line that returns, or at the brace that ends the function.
func TestDeferredCommandIsSentAtTheLineThatReturns(t *testing.T) {
	files := edited(t, "mutex.go", beforeTry, beforeTry+"\tdefer m.rdb.Publish(ctx, \"x\", 1)\n\tm.before(ctx)\n")
	files["mutex.go"] += "\nfunc (m *Mutex) before(ctx context.Context) {\n\tdefer m.rdb.Get(ctx, \"y\")\n\tm.ttl += 0\n} // before\n"
	lines := sentAt(t, files)
	require.Equal(t, fmt.Sprint("mutex.go:", lineOf(t, files["mutex.go"], "return true, nil")), lines["PUBLISH"])
	require.Equal(t, fmt.Sprint("mutex.go:", lineOf(t, files["mutex.go"], "} // before")), lines["GET"])
}

// No line of the lock is on the stack of go rdb.Del(ctx, key), in a compiled lock and in this one.
func TestCommandWithAGoroutineOfItsOwnHasNoLine(t *testing.T) {
	lines := sentAt(t, edited(t, "mutex.go", beforeTry, beforeTry+"\tgo m.rdb.Publish(ctx, \"x\", 1)\n"))
	require.Equal(t, ".", lines["PUBLISH"])
	require.Contains(t, lines["SET"], "mutex.go:")
}

// What is wrong with the text is said with its place, as a compiler says it; what is only
// more than the interpreter knows is said with how to go on.
func TestProblemHasItsPlaceAndASentence(t *testing.T) {
	const elsewhere = ": compile it instead, with go run . kata or go run . grade"
	for name, c := range map[string]struct{ old, now, at, says string }{
		"syntax":         {beforeTry, beforeTry + "\tvalue := := 1\n", ":= :=", "expected operand, found ':='"},
		"undefined":      {beforeTry, beforeTry + "\tvalu = \"\"\n", "valu =", "undefined: valu"},
		"type":           {beforeTry, beforeTry + "\tvar n int = m.key\n", "m.key\n", "cannot use m.key"},
		"unused":         {beforeTry, beforeTry + "\tn := 1\n", "n := 1", "declared and not used: n"},
		"arguments":      {"m.watchdog.start(value)", "m.watchdog.start()", "m.watchdog.start()", "not enough arguments"},
		"unused import":  {"\t\"time\"\n", "\t\"time\"\n\t\"strings\"\n", "\"strings\"", "\"strings\" imported and not used"},
		"package":        {"\t\"time\"\n", "\t\"time\"\n\t\"net/http\"\n", "\"net/http\"", "the package net/http is not to be had here" + elsewhere},
		"symbol":         {beforeTry, beforeTry + "\tuuid.SetNodeID(nil)\n", "SetNodeID", "uuid.SetNodeID is not known here: if Go has it, compile it instead"},
		"method":         {beforeTry, beforeTry + "\tm.rdb.ACLLog(ctx, 1)\n", "ACLLog", "if Go has it, compile it instead"},
		"local type":     {"func NewMutex(", "func first[T any](t T) T {\n\ttype local struct{ t T }\n\treturn local{t}.t\n}\n\nvar _ = first(1)\n\nfunc NewMutex(", "[T any]", "a type that is declared inside a generic function is more than can be run here" + elsewhere},
		"type of itself": {"func NewMutex(", "type tree []tree\n\nvar _ tree\n\nfunc NewMutex(", "tree []tree", "the type tree, which consists of itself, is more than can be run here" + elsewhere},
		"complex":        {beforeTry, beforeTry + "\tc := complex(1, 2)\n\t_ = c * c\n", "complex(1", "a constant of the type complex128 is more"},
		"own writer":     {"func NewMutex(", "type sink struct{}\n\nfunc (sink) Write(b []byte) (int, error) { return 0, nil }\n\nfunc init() { fmt.Fprint(sink{}, 1) }\n\nfunc NewMutex(", "sink{}, 1", "a type of your own as a io.Writer is more than can be run here" + elsewhere},
		"own hash":       {beforeTry, beforeTry + "\tm.rdb.HSet(ctx, m.key, struct{ Owner string }{value})\n", "HSet", "a struct of your own for go-redis, without a method MarshalBinary, is more than can be run here" + elsewhere},
		"no NewMutex":    {"func NewMutex(", "func newMutex(", "", "there is no func NewMutex(rdb redis.UniversalClient"},
		"other methods":  {"func NewMutex(", "func (m *Mutex) Close() error { return nil }\n\nfunc (m *Mutex) Token(context.Context) int64 { return 1 }\n\nfunc NewMutex(", "func NewMutex(", "a lock with these of Token, Lost, HoldCount, ForceUnlock and Close is more than can be run here" + elsewhere},
		"other NewMutex": {"name string, ttl time.Duration, opts ...Option) (*Mutex", "name string, ttl int, opts ...Option) (*Mutex", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := edited(t, "mutex.go", c.old, c.now)
			_, problems := interpreter.Load("mine", files)
			require.NotEmpty(t, problems)
			p := problems[0]
			require.Contains(t, p.Text, c.says)
			require.NotContains(t, p.Text, "\n")
			if c.at != "" {
				require.Equal(t, "mutex.go", p.File)
				require.Equal(t, lineOf(t, files["mutex.go"], c.at), p.Line, "%v", p)
				require.Positive(t, p.Column)
			}
		})
	}
}

// A file that is embedded is found among those of the lock.
func TestEmbeddedScriptIsItsFile(t *testing.T) {
	files := edited(t, "mutex.go", "\t\"context\"\n", "\t\"context\"\n\t_ \"embed\"\n")
	before, rest, _ := strings.Cut(files["mutex.go"], "var unlockScript = redis.NewScript(`")
	script, after, _ := strings.Cut(rest, "`)")
	files["mutex.go"] = before + "//go:embed unlock.lua\nvar unlockText string\n\nvar unlockScript = redis.NewScript(unlockText)" + after
	files["unlock.lua"] = script
	c := columns.Must("5")
	lock, problems := interpreter.Load(c.Dir, files)
	require.Empty(t, problems)
	f, _ := failures.Find("delete-foreign")
	require.Equal(t, failures.Safe, failures.Run(t, f, lock.Subject("mine", c.Subject.Has...)).Outcome)

	delete(files, "unlock.lua")
	_, problems = interpreter.Load(c.Dir, files)
	require.Contains(t, problems[0].Text, "the file unlock.lua, which is not among those of the lock")
}

package playground_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
	"lockkata/internal/playground"
	"lockkata/internal/playground/interpreter"
	"lockkata/internal/texts"
)

// mine is a lock that is in no list. Its watchdog renews once a lease, when it may be too
// late, and whoever has the key by then; after Unlock it goes on for one renewal more.
const mine = `package mine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var errLate = errors.New("mine: the lock is somebody else's")

var drop = redis.NewScript("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")

type Lease struct {
	client redis.UniversalClient
	key    string
	every  time.Duration
	guard  sync.Mutex
	held   *hold
}

type hold struct {
	mark string
	over chan bool
}

func NewMutex(client redis.UniversalClient, name string, lease time.Duration) (*Lease, error) {
	return &Lease{client: client, key: "mine/" + name, every: lease}, nil
}

func (l *Lease) TryLock(ctx context.Context) (bool, error) {
	var raw [8]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return false, err
	}
	mark := hex.EncodeToString(raw[:])
	got, err := l.client.SetNX(ctx, l.key, mark, l.every).Result()
	if err != nil || !got {
		return false, err
	}
	h := &hold{mark: mark, over: make(chan bool, 1)}
	l.guard.Lock()
	l.held = h
	l.guard.Unlock()
	go l.look(h)
	return true, nil
}

func (l *Lease) look(h *hold) {
	for {
		time.Sleep(l.every)
		if there, err := l.client.PExpire(context.Background(), l.key, l.every).Result(); err == nil && !there {
			return
		}
		select {
		case <-h.over:
			return
		default:
		}
	}
}

func (l *Lease) Lock(ctx context.Context) error {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		if got, err := l.TryLock(ctx); got || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
	}
}

func (l *Lease) Unlock(ctx context.Context) error {
	l.guard.Lock()
	h := l.held
	l.held = nil
	l.guard.Unlock()
	if h == nil {
		return errLate
	}
	h.over <- true
	n, err := drop.Run(ctx, l.client, []string{l.key}, h.mark).Int()
	switch {
	case err != nil:
		return err
	case n == 0:
		return errLate
	}
	return nil
}
`

// A lock that a visitor wrote is played and searched; its schedules replay on no other.
func TestWrittenLockIsPlayedAndSearched(t *testing.T) {
	e := engine(t)
	c := columns.Must("3")
	raw, err := os.ReadFile(filepath.Join("../..", c.Dir, "mutex.go"))
	require.NoError(t, err)
	files := map[string]string{"mutex.go": strings.Replace(string(raw), `"NX", `, "", 1)}
	found := ask[schedule.Answer](t, e, playground.Request{Op: "search", Stage: "3", Files: files, Goal: "exclusion", Env: "async", Bound: 3})
	require.True(t, found.Found)
	require.Contains(t, found.Schedule, "~")
	p := ask[playground.Position](t, e, playground.Request{Op: "replay", Stage: "3", Files: files, Schedule: found.Schedule})
	require.NotEmpty(t, p.View.Findings)
	require.Equal(t, files["mutex.go"], p.Files[0].Text)
	require.NotEmpty(t, refused(t, e, playground.Request{Op: "replay", Stage: "3", Schedule: found.Schedule}).Error)
	p = ask[playground.Position](t, e, playground.Request{Op: "game", Stage: "3", Files: files})
	require.NotEmpty(t, p.View.Options)
	ask[playground.Position](t, e, playground.Request{Op: "choose"})
}

// Who asks in vain leaves a word for a moment. That is not the lock with too short a lease.
func TestKeyBesideAWrittenLockIsNotTakenForIt(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("../..", columns.Must("4").Dir, "mutex.go"))
	require.NoError(t, err)
	const refused = "		return false, nil\n	}\n	if err"
	asks := "		m.rdb.Set(ctx, m.key+\":asked\", value, 50*time.Millisecond)\n"
	files := map[string]string{"mutex.go": strings.Replace(string(raw), refused, asks+refused, 1)}
	cell := ask[playground.Cell](t, engine(t), playground.Request{Op: "run", Stage: "4", Files: files, Failure: "second-client"})
	require.Equal(t, string(failures.Safe), cell.Outcome, cell.Verdict)
	played, err := json.Marshal(cell.Run)
	require.NoError(t, err)
	require.Contains(t, string(played), ":asked")
}

// What broke is told before a story that could not happen, and ends what is played.
func TestWhatIsBrokenIsToldBeforeWhatCouldNotHappen(t *testing.T) {
	e := engine(t)
	dir := columns.Must("6.4").Dir
	files := map[string]string{}
	for _, name := range []string{"hold.go", "mutex.go", "once.go", "ownership.go", "unknown.go", "wait.go", "watchdog.go"} {
		raw, err := os.ReadFile(filepath.Join("../..", dir, name))
		require.NoError(t, err)
		files[name] = strings.NewReplacer( // the message comes before the delete
			"	redis.call(\"PUBLISH\", KEYS[1], \"free\")\n", "",
			"	return countScript.Run(ctx", "	if count == 0 {\n		m.rdb.Publish(ctx, m.key, \"free\")\n	}\n	return countScript.Run(ctx",
		).Replace(string(raw))
	}
	asked := playground.Request{Op: "column", Stage: "6.4", Files: files, Required: []string{"retry-unlock", "publish-before-delete", "second-client"}}
	column := ask[playground.Column](t, e, asked)
	require.Equal(t, string(failures.NotTold), column.Cells[0].Outcome)
	require.Equal(t, "publish-before-delete", column.Red)
	require.Len(t, column.Cells, 2)
	asked.Required = []string{"second-client", "retry-unlock", "double-unlock"}
	column = ask[playground.Column](t, e, asked)
	require.Equal(t, "retry-unlock", column.Red, "there is nothing else to tell")
	require.Len(t, column.Cells, 3)
}

type refusal struct {
	Error    string
	Problems []interpreter.Problem
}

func refused(t *testing.T, e *playground.Engine, r playground.Request) (answer refusal) {
	t.Helper()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(e.Answer(raw, func(playground.Progress) bool { return false }), &answer))
	return answer
}

// What is wrong with a lock is told with its lines, and the engine goes on. In Chinese all is
// said but what Go's type checker says.
func TestWrittenLockThatDoesNotRunIsToldWithItsLine(t *testing.T) {
	e := engine(t)
	for name, c := range map[string]struct{ old, now, says, chinese string }{
		"syntax":  {"got, err :=", "got, err = :=", "expected operand", "expected operand"},
		"type":    {"l.held = h\n", "l.held = l\n", "cannot use l", "cannot use l"},
		"package": {"\"sync\"", "\"net/http\"", "the package net/http is not to be had here: compile it", "这里没有 net/http 这个包：请改为编译"},
		"beyond":  {"mark := hex", "_ = 1i\n\tmark := hex", "a constant of the type complex128 is more than", "类型是 complex128 的常量，这里跑不了"},
		"endless": {"mark := hex", "for {\n\t}\n\tmark := hex", "an endless loop", "死循环"},
		"panic":   {"go l.look(h)", "go func() { panic(h.mark[:0]) }()", "panic: ", "panic："},
		"left":    {"mark := hex", "go func() { select {} }()\n\tmark := hex", "is left here (select (no cases))", "留在这里（select (no cases)）"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(mine, c.old, c.now, 1)
			before, _, _ := strings.Cut(mine, c.old)
			for lang, says := range map[texts.Language]string{texts.English: c.says, texts.Chinese: c.chinese} {
				answer := refused(t, e, playground.Request{Op: "column", Lang: lang, Stage: "5", Files: map[string]string{"mine.go": text}})
				require.NotEmpty(t, answer.Problems)
				require.Contains(t, answer.Problems[0].Text, says)
				require.Contains(t, answer.Error, says)
				require.Equal(t, "mine.go", answer.Problems[0].File)
				require.Equal(t, strings.Count(before, "\n")+1, answer.Problems[0].Line)
			}
		})
	}
	require.Len(t, ask[playground.Column](t, e, playground.Request{Op: "column", Stage: "5", Files: map[string]string{"mine.go": mine}}).Cells, len(failures.All))
	one := map[string]string{"mine.go": strings.Replace(mine, `"mine/" + name`, `"mine"`, 1)}
	answer := refused(t, e, playground.Request{Op: "column", Lang: texts.Chinese, Stage: "5", Files: one})
	require.Contains(t, answer.Error, "你的锁连平常的一天都没有撑过去：world: the lock \"order:1001:another\" is refused")
}

// What a lock prints is kept for the page: nothing writes to a standard output from a bubble there.
func TestWhatAWrittenLockPrintsIsKept(t *testing.T) {
	e := engine(t)
	prints := "calls++\n\tprintln(\"one\", calls > 5)\n\tfmt.Printf(\"%T\\n\", l)\n\tsay := fmt.Println\n\tsay(strings.Repeat(\"x\", 5000))\n\tmark := hex"
	files := map[string]string{"mine.go": strings.Replace(strings.Replace(mine, "mark := hex", prints, 1), "\t\"errors\"\n", "\t\"errors\"\n\t\"fmt\"\n\t\"strings\"\n", 1) + "\nvar calls int\n"}
	ask[playground.Cell](t, e, playground.Request{Op: "run", Stage: "5", Files: files, Failure: "second-client"})
	printed := interpreter.Printed.Take()
	require.Equal(t, "one true\n*mine.Lease\n", strings.TrimRight(printed, "x"), "what the rehearsal printed is forgotten")
	require.Len(t, printed, 4096)
	require.Empty(t, interpreter.Printed.Take())
}

// A lock that gets on gives no sign of trouble; one whose newest command is an old one has
// the line of that.
func TestSignTellsWhereALockIsThatDoesNotGetOn(t *testing.T) {
	e := engine(t)
	require.Nil(t, e.Sign(), "nobody wrote anything")
	files := map[string]string{"mine.go": mine}
	ask[playground.Column](t, e, playground.Request{Op: "column", Stage: "5", Files: files, Required: []string{"second-client"}})
	require.Nil(t, e.Sign())
	require.Contains(t, string(e.Sign()), `{"file":"mine.go","line":`)
	refused(t, e, playground.Request{Op: "column", Stage: "5", Files: map[string]string{"mine.go": "package"}})
	require.Nil(t, e.Sign(), "it is another lock's line")
}

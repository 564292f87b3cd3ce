package kata

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

//go:generate go test lockkata/internal/kata -run TestScripted -timeout 30m -update

var update = flag.Bool("update", false, "write the recorded session into docs/kata.md")

// patience is how long a screen may take on a busy machine.
const patience = 2 * time.Minute

// learner is a scripted one: he saves files, presses keys and reads the screen.
type learner struct {
	t      *testing.T
	folder Folder
	lang   i18n.Language
	keys   *io.PipeWriter
	ended  chan error

	mu     sync.Mutex
	screen strings.Builder
	read   int
	wrote  chan struct{}
}

// sitDown starts the loop for a learner who has started an exercise.
func sitDown(t *testing.T, id string, change func(*loop)) *learner {
	return sitDownAt(t, newFolder(t, id), change)
}

func sitDownAt(t *testing.T, f Folder, change func(*loop)) *learner {
	t.Helper()
	in, keys := io.Pipe()
	l := &learner{t: t, folder: f, keys: keys, ended: make(chan error, 1), wrote: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	session := newLoop(l.folder, View{Width: 120, Lang: i18n.English}, in, l)
	session.workshop.ready = program(t)
	if change != nil {
		change(session)
	}
	l.lang = session.view.Lang
	go func() {
		if session.terminal {
			l.ended <- session.run(ctx, keysOf(keyboard.Piped(in)))
		} else {
			l.ended <- session.open(ctx)
		}
	}()
	return l
}

// Write is the screen.
func (l *learner) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.screen.Write(b)
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	return len(b), nil
}

// sees waits until the screen has said all of these, after what it said before.
func (l *learner) sees(texts ...string) {
	l.t.Helper()
	late := time.After(patience)
	for _, text := range texts {
		for !l.find(text) {
			select {
			case <-l.wrote:
			case <-late:
				require.Fail(l.t, "the screen never says it", "%q is not in:\n%s", text, l.text())
			}
		}
	}
}

func (l *learner) find(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := strings.Index(l.screen.String()[l.read:], text)
	if at >= 0 {
		l.read += at + len(text)
	}
	return at >= 0
}

func (l *learner) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.screen.String()
}

// How a recording says what the learner does.
var (
	savesIt   = map[i18n.Language]string{i18n.English: "the learner saves mutex.go: ", i18n.Chinese: "学习者保存 mutex.go："}
	pressesIt = map[i18n.Language]string{i18n.English: "the learner presses ", i18n.Chinese: "学习者按 "}
)

// note writes into the recording what the learner does.
func (l *learner) note(text string) { _, _ = l.Write([]byte("\n>>> " + text + "\n")) }

func (l *learner) saves(m Material, what string) { l.savesFiles(filesOf(l.t, m), what) }

func (l *learner) savesFiles(files Files, what string) {
	l.t.Helper()
	l.note(savesIt[l.lang] + what)
	// Whole, as most editors do: a file that is half written does not compile, and the
	// loop would say so.
	saved := l.t.TempDir()
	require.NoError(l.t, writeFiles(saved, files))
	for name := range files {
		require.NoError(l.t, os.Rename(filepath.Join(saved, name), filepath.Join(l.folder.Dir, name)))
	}
}

func (l *learner) presses(key string) {
	l.t.Helper()
	l.note(pressesIt[l.lang] + key)
	_, err := l.keys.Write([]byte(key))
	require.NoError(l.t, err)
}

func (l *learner) leaves() {
	l.t.Helper()
	l.presses("q")
	select {
	case err := <-l.ended:
		require.NoError(l.t, err)
	case <-time.After(patience):
		require.Fail(l.t, "q does not end the loop")
	}
}

const answers = "Your answer? Press 1 to 3, or 0 for none.\n"

const bar = "h hint  d diff  x explore  e why  s solution  n next  l list  r reset  q quit\n"

// forgetful ignores what SETNX answers.
var forgetful = Material{Column: "1", Edits: []Edit{{"mutex.go", "	if !created {\n		return false, nil\n	}\n", "	_ = created\n"}}}

func TestScriptedLearnerGetsTheRightScreenAtEveryStep(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "1", nil)
	l.sees("exercise 1: A lock at all", "✗ your lock does not lock", "mylock: this method is yours to write", bar)
	l.presses("h")
	l.sees("Hint 1 of 3: If you first ask whether the lock is free", bar)
	l.saves(forgetful, "SETNX and PEXPIRE, but what SETNX answers is not looked at")
	l.sees("✗ second-client", "BROKEN: exclusion: B is inside the lock while A still is.", bar)
	l.saves(Material{Column: "1"}, "a lock that looks")
	l.sees("✓ passed: it survives all 15 failures that are asked for, and ", "What happens next, on your lock?", "  3  At once", answers)
	l.presses("1")
	l.sees("✗ leak", "No. The world says: A timeout: the key is still there.", "What still breaks in your lock: crash-before-expire", "interviewer's next question", bar)
	requireRecorded(t, "docs/kata.md", l.text())
	if *update {
		l.leaves()
		return
	}

	l.presses("n")
	l.sees("It begins with your own lock of exercise 1.", "✗ crash-before-expire", bar)
	l.leaves()
}

// The same path in Chinese, at a narrow terminal: nothing is in English but code, names and
// commands, and nothing is wider than the terminal.
func TestScriptedLearnerWhoReadsChinese(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "1", func(s *loop) { s.view.Lang, s.view.Width, s.workshop.lang = i18n.Chinese, narrow, i18n.Chinese })
	bar := keysAre.Localize(i18n.Chinese)
	l.sees("练习 1：先有一把锁", "✗ 你的锁：没有锁住", "Lock 去拿一把空闲的锁，没有拿到", "发生在：平常的一天。", bar)
	l.presses("h")
	l.sees("提示 1/3：如果先查看锁是否空闲", bar)
	l.saves(forgetful, "SETNX 加 PEXPIRE，但不看 SETNX 的答复")
	l.sees("✗ second-client：", "被破坏：互斥：", bar)
	l.saves(Material{Column: "1"}, "会看答复的锁")
	l.sees("✓ 通过：要求的 15 个故障", "接下来会发生什么？", "  3  立刻得知别的客户端拿着锁", "你的回答？请按：1 到 3 回答，0 不回答。\n")
	l.presses("1")
	l.sees("✗ key 残留", "不对。实际运行的结果：等到超时：key 还在。", "你的锁还防不住的：crash-before-expire", "面试官接着会问：", bar)
	requireRecorded(t, "docs/zh-CN/kata.md", l.text())
	if !*update {
		requireChinese(t, l.text())
	}
	l.leaves()
}

// narrow is how many columns a small terminal has.
const narrow = 80

// inEnglish is what stays in a Chinese screen: the errors of a lock, which a narrow picture
// divides.
var inEnglish = regexp.MustCompile(`mylock: .*|"hold is lost"|yours to write|context deadline exceeded`)

// requireChinese wants a screen to have no three English words in a row, and no line wider
// than a small terminal.
func requireChinese(t *testing.T, screen string) {
	t.Helper()
	for line := range strings.Lines(screen) {
		line = strings.TrimSuffix(line, "\n")
		require.NotRegexp(t, `[a-z]+ [a-z]+ [a-z]+`, inEnglish.ReplaceAllString(line, ""))
		require.LessOrEqual(t, term.Columns(line), narrow, "%s", line)
	}
}

// session are the marks of the recorded session in the documents.
const (
	sessionBegin = "<!-- session -->\n```text\n"
	sessionEnd   = "```\n<!-- end -->"
)

func requireRecorded(t *testing.T, document, transcript string) {
	t.Helper()
	name := filepath.Join(repositoryRoot(t), document)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(raw), sessionBegin)
	require.True(t, found)
	recorded, after, found := strings.Cut(rest, sessionEnd)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(before+sessionBegin+transcript+sessionEnd+after), 0o644))
		return
	}
	require.Equal(t, transcript, recorded, "out of date: go generate ./...")
}

func TestCompilerErrorComesAloneAndFirst(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "3", nil)
	l.sees("✗ delete-foreign", bar)
	l.saves(Material{Column: "3", Edits: []Edit{{"mutex.go", "	value := uuid.NewString()\n", "	value := uuid.NewSring()\n"}}}, "a typing error")
	l.sees("✗ it does not compile\n\nmutex.go:50: undefined: uuid.NewSring\n", bar)
	l.presses("\x1b[A\x00Z\xff") // rubbish, and a piece of an arrow key
	l.presses("d")
	l.sees("learner presses d\n--- start/mutex.go", "+	value := uuid.NewSring()", bar)
	l.presses("s")
	l.sees("You have not passed this exercise yet. Show the solution? Press y for yes, n for no.\n")
	l.presses("x")
	l.sees("Press y for yes, n for no.\n")
	l.presses("n")
	l.sees(bar)
	l.presses("e")
	l.sees("The explanation comes when the exercise is passed.", bar)
	l.presses("r")
	l.sees("Press 1 for this exercise, a for all exercises, n for neither.")
	l.presses("1")
	l.sees("Exercise 3 begins again. It begins with the lock of stage 2. What you wrote is in _copies/001.", "✗ delete-foreign", bar)
	l.presses("x")
	l.sees("Searching the schedules of your lock", "leak in crash", "The shortest way to break wrong-delete", "mutex.go:", "BROKEN: wrong delete", "schedules of your lock", bar)
	require.NoError(t, l.keys.Close())
	require.NoError(t, <-l.ended, "the end of the keys ends the loop")
	copied, err := l.folder.lock("_copies/001")
	require.NoError(t, err)
	require.Contains(t, copied["mutex.go"], "uuid.NewSring")
}

// A person at a terminal sees at once that a save was seen, what is being done, and below
// the old result; and no key that is no answer costs the question.
func TestPersonSeesThatASaveWasSeen(t *testing.T) {
	t.Parallel()
	l := sitDown(t, "2", func(s *loop) {
		s.terminal, s.view.Color = true, true
		s.now = func() time.Time { return time.Date(2026, 1, 2, 14, 3, 5, 0, time.UTC) }
	})
	l.sees("begun", "begun 14:03:05: failure ", " of "+strconv.Itoa(len(failures.All)), term.EraseLine, "✗ crash-before-expire", "e why")
	l.saves(Material{Column: "2"}, "the solution")
	old := "\x1b[2m✗ crash-before-expire"
	l.sees(term.Clear, old, term.EraseLine+"saved", "saved 14:03:05: failure ", "searching its schedules", term.Clear, "✓ passed", answers)
	l.presses("7")
	l.sees("Press 1 to 3, or 0 for none.")
	l.presses("h")
	l.sees("Press 1 to 3, or 0 for none.")
	l.presses("2")
	l.sees("Right.", "The world says: It has the lock, at the same time as B.")
	l.leaves()
	for _, line := range strings.Split(bar, "\n") {
		require.LessOrEqual(t, term.Columns(line), 79)
	}
}

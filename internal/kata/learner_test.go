package kata

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/folder"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
	"lockkata/internal/term/keyboard"
)

//go:generate go test lockkata/internal/kata -run TestScripted -timeout 30m -update

var update = flag.Bool("update", false, "write the recorded session into docs/kata.md")

const (
	patience = time.Minute // for a screen, on a busy machine
	narrow   = 80          // columns of a small terminal
)

// learner is a scripted user: it saves files, presses keys and reads the screen.
type learner struct {
	t      *testing.T
	folder folder.Folder
	lang   i18n.Language
	keys   *io.PipeWriter
	ended  chan error

	mu     sync.Mutex
	screen strings.Builder
	read   int
	wrote  chan struct{}
}

// sitDown starts the loop in a folder in which the exercise was started; "" starts none.
func sitDown(t *testing.T, id string, change func(*loop)) *learner {
	t.Helper()
	f := folder.Folder{Root: repositoryRoot, Dir: filepath.Join(t.TempDir(), "mylock")}
	if id != "" {
		f = newFolder(t, id)
	}
	in, keys := io.Pipe()
	l := &learner{t: t, folder: f, keys: keys, ended: make(chan error, 1), wrote: make(chan struct{}, 1)}
	session := newLoop(f, View{Width: 120, Lang: i18n.English}, in, l)
	session.workshop.ready, session.workshop.brief = program(t), true
	if change != nil {
		change(session)
	}
	l.lang = session.view.Lang
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		if session.isPerson {
			l.ended <- session.run(ctx, keyboard.Piped(in).C)
		} else {
			l.ended <- session.open(ctx)
		}
	}()
	return l
}

// Write receives the screen's output.
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

// sees waits until the screen has shown all of these texts in order, and returns what it has read.
func (l *learner) sees(texts ...string) (shown string) {
	l.t.Helper()
	late := time.After(patience)
	for _, text := range texts {
		for !strings.Contains(l.shown(l.read), text) {
			select {
			case <-l.wrote:
			case <-late:
				require.Fail(l.t, "not on the screen", "%q is not in:\n%s", text, l.shown(l.read))
			}
		}
		before, _, _ := strings.Cut(l.shown(l.read), text)
		l.read += len(before) + len(text)
		shown += before + text
	}
	return shown
}

// shown returns the screen's output without the first bytes.
func (l *learner) shown(without int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.screen.String()[without:]
}

// Lines of a recording about the learner's actions.
var (
	savesIt   = map[i18n.Language]string{i18n.English: "the learner saves mutex.go: ", i18n.Chinese: "学习者保存 mutex.go："}
	pressesIt = map[i18n.Language]string{i18n.English: "the learner presses ", i18n.Chinese: "学习者按 "}
)

// note adds a line to the recording.
func (l *learner) note(text string) { _, _ = l.Write([]byte("\n>>> " + text + "\n")) }

// saves saves a lock and waits for the texts.
func (l *learner) saves(files apart.Files, what string, texts ...string) {
	l.t.Helper()
	l.note(savesIt[l.lang] + what)
	// The file is renamed into place, as most editors do: half a file would not compile.
	saved := l.t.TempDir()
	write(l.t, saved, files)
	for name := range files {
		require.NoError(l.t, os.Rename(filepath.Join(saved, name), filepath.Join(l.folder.Dir, name)))
	}
	l.sees(texts...)
}

// presses presses a key and waits for the texts.
func (l *learner) presses(key string, texts ...string) {
	l.t.Helper()
	l.note(pressesIt[l.lang] + key)
	_, err := l.keys.Write([]byte(key))
	require.NoError(l.t, err)
	l.sees(texts...)
}

func (l *learner) leaves() {
	l.t.Helper()
	l.presses("q")
	require.NoError(l.t, <-l.ended)
}

const (
	bar     = "h hint  d diff  x explore  e why  s solution  n next  l list  r reset  q quit\n"
	answers = "Your answer? Press 1 to 3, or 0 to skip it.\n"
)

// drawing matches the drawing of a run.
var drawing = regexp.MustCompile(`(?s)\n(?:time|时间) .*?\n\n`)

// record records how a learner passes the first exercise, without the drawings of the first failure and of the answer.
func record(t *testing.T, lang i18n.Language, width int, solution string) string {
	t.Helper()
	l := sitDown(t, "", func(s *loop) {
		s.view.Lang, s.folder.Language, s.workshop.lang = lang, lang, lang
		s.view.Width, s.workshop.brief = width, false
	})
	l.sees(keysText.Localize(lang) + "\n")
	l.saves(filesOf(t, exercise(t, "1").Solution), solution, answerText.Localize(lang), "\n")
	l.presses("1", keysText.Localize(lang)+"\n")
	asked, answer, _ := strings.Cut(strings.ReplaceAll(l.shown(0), l.folder.Dir, "mylock"), pressesIt[lang]+"1\n")
	l.leaves()
	_, told, found := strings.Cut(answer, wrongText.Localize(lang))
	require.True(t, found)
	return drawing.ReplaceAllString(asked, "\n⋮\n\n") + pressesIt[lang] + "1\n⋮\n" + wrongText.Localize(lang) + told
}

func TestScriptedLearnerGetsTheRightScreenAtEveryStep(t *testing.T) {
	t.Parallel()
	recorded := record(t, i18n.English, 120, "SETNX, then PEXPIRE")
	require.Contains(t, recorded, "■"+strings.Repeat("□", 21)+"  1 of 22 passed\n\nWhat happens next, on your lock?\n")
	require.Contains(t, recorded, "No. The run shows: A timeout: the key is still there.\n\nWhat still breaks in your lock: ")
	requireRecorded(t, "docs/kata.md", recorded)
}

func TestScriptedLearnerWhoReadsChinese(t *testing.T) {
	if sample != nil && !*update {
		t.Skip("the other scripted learner takes the same way")
	}
	t.Parallel()
	recorded := record(t, i18n.Chinese, narrow, "SETNX，再 PEXPIRE")
	requireChinese(t, recorded)
	requireRecorded(t, "docs/zh-CN/kata.md", recorded)
}

// inEnglish matches what stays English on a Chinese screen: errors of a lock, which a narrow picture
// splits.
var inEnglish = regexp.MustCompile(`mylock: .*|"hold is lost"|context deadline exceeded`)

// requireChinese fails if a screen has three English words in a row, or a line that is too wide for a
// small terminal.
func requireChinese(t *testing.T, screen string) {
	t.Helper()
	for line := range strings.Lines(screen) {
		line = strings.TrimSuffix(line, "\n")
		require.NotRegexp(t, `[a-z]+ [a-z]+ [a-z]+`, inEnglish.ReplaceAllString(line, ""))
		require.LessOrEqual(t, term.Columns(line), narrow, line)
	}
}

// The marks of the recorded session in a document.
const (
	sessionBegin = "<!-- session -->\n```text\n"
	sessionEnd   = "```\n<!-- end -->"
)

func requireRecorded(t *testing.T, document, transcript string) {
	t.Helper()
	name := filepath.Join(repositoryRoot, document)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, _ := strings.Cut(string(raw), sessionBegin)
	recorded, after, found := strings.Cut(rest, sessionEnd)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(before+sessionBegin+transcript+sessionEnd+after), 0o644))
		return
	}
	require.Equal(t, transcript, recorded, "out of date: go generate ./...")
}

func TestCtrlCMovesTheCursorToANewLine(t *testing.T) {
	var out strings.Builder
	l := newLoop(folder.Folder{}, View{Width: narrow}, nil, &out)
	l.isPerson = true
	l.start(t.Context(), func(ctx context.Context) func() { <-ctx.Done(); return nil })
	l.workshop.say(failureCountText.Args("n", 3, "all", 95))
	l.status()
	keys := make(chan rune, 1)
	keys <- keyboard.Interrupt
	require.ErrorIs(t, l.run(t.Context(), keys), context.Canceled)
	require.Equal(t, term.EraseLine+"checking your lock  0 s"+term.EraseLine+"failure 3 of 95  0 s\n", out.String())
}

func TestEnterIsNoAnswer(t *testing.T) {
	var out strings.Builder
	l := newLoop(folder.Folder{}, View{Width: narrow}, nil, &out)
	l.predict(CheckResult{Exercise: exercise(t, "1")}, lesson.Part{Answers: make([]lesson.Answer, 3), Value: (*trace.Trace).LockKey}.On(&lesson.Run{Trace: &trace.Trace{}}, 0))
	l.press(t.Context(), '\r')
	require.NotNil(t, l.question)
	require.True(t, strings.HasSuffix(out.String(), answers+"The question comes first: press 1 to 3, or 0 to skip it.\n"), out.String())
}

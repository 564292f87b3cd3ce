package kata

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

//go:generate go test lockkata/internal/kata -run TestScripted -update

var update = flag.Bool("update", false, "write the recorded session into docs/kata.md")

// patience is how long a screen may take on a busy machine.
const patience = 2 * time.Minute

// learner is a scripted one: he saves files, presses keys and reads the screen.
type learner struct {
	t      *testing.T
	folder Folder
	keys   *io.PipeWriter
	ended  chan error

	mu     sync.Mutex
	screen strings.Builder
	read   int
	wrote  chan struct{}
}

// sitDown starts the loop for a learner who has started an exercise.
func sitDown(t *testing.T, number int) *learner {
	t.Helper()
	in, keys := io.Pipe()
	l := &learner{t: t, folder: newFolder(t, number), keys: keys, ended: make(chan error, 1), wrote: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	session := &loop{folder: l.folder, view: View{Width: 120}, in: in, out: l, workshop: workshop{root: l.folder.Root, ready: program(t)}}
	go func() { l.ended <- session.open(ctx) }()
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

// note writes into the recording what the learner does.
func (l *learner) note(text string) { _, _ = l.Write([]byte("\n>>> " + text + "\n")) }

func (l *learner) saves(m Material, what string) {
	l.t.Helper()
	files := filesOf(l.t, m)
	l.note("the learner saves mutex.go: " + what)
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
	l.note("the learner presses " + key)
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

const bar = "h hint  d diff  x explore  e explain  s solution  n next  l list  r reset  q quit\n"

// forgetful ignores what SETNX answers.
var forgetful = Material{Stage: 1, Edits: []Edit{{"mutex.go", "	if !created {\n		return false, nil\n	}\n", "	_ = created\n"}}}

func TestScriptedLearnerGetsTheRightScreenAtEveryStep(t *testing.T) {
	t.Parallel()
	l := sitDown(t, 1)
	l.sees("exercise 1 of 17", "✗ your lock does not lock", "mylock: this method is yours to write", bar)
	l.presses("h")
	l.sees("Hint 1 of 3: Asking whether the lock is free", bar)
	l.saves(forgetful, "SETNX and PEXPIRE, but what SETNX answers is not looked at")
	l.sees("✗ second-client", "BROKEN: exclusion: B is inside the lock while A still is.", bar)
	l.saves(Material{Stage: 1}, "a lock that looks")
	l.sees("✓ passed: it survives all 10", "What happens next, on your lock?", "  3  At once", "press the number of your answer\n")
	l.presses("1")
	l.sees("No. The world says: A timeout: the key is still there.", "✗ leak", "What still breaks in your lock: crash-before-expire", "interviewer's next question", bar)
	requireRecorded(t, l.text())
	if *update {
		l.leaves()
		return
	}

	firsts := []string{2: "✗ crash-before-expire", 3: "✗ delete-foreign", 4: "✗ check-then-delete", 5: "✗ work-outlives-ttl", 6: ""}
	for number, first := range firsts[2:] {
		l.presses("n")
		l.sees("It begins with your own lock of exercise")
		if first != "" { // else the next save ends the check that is under way
			l.sees(first, bar)
		}
		e, _ := Find(number + 2)
		l.saves(e.Solution, "the solution")
		l.sees("✓ passed", "press the number of your answer\n")
	}
	l.presses("l")
	l.sees("What still breaks in your lock: nothing of the catalogue", "✓  6  the whole lock", "6 of 17 passed", bar)
	l.leaves()
}

// session are the marks of the recorded session in the document.
const (
	sessionBegin = "<!-- session -->\n```text\n"
	sessionEnd   = "```\n<!-- end -->"
)

func requireRecorded(t *testing.T, transcript string) {
	t.Helper()
	name := filepath.Join(repositoryRoot(t), "docs", "kata.md")
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
	l := sitDown(t, 3)
	l.sees("✗ delete-foreign", bar)
	l.saves(Material{Stage: 3, Edits: []Edit{{"mutex.go", "	value := uuid.NewString()\n", "	value := uuid.NewSring()\n"}}}, "a typing error")
	l.sees("✗ it does not compile\n\nmutex.go:50: undefined: uuid.NewSring\n", bar)
	l.presses("\x1b[A\x00Z\xff") // rubbish, and a piece of an arrow key
	l.presses("d")
	l.sees("learner presses d\n--- start/mutex.go", "+	value := uuid.NewSring()", bar)
	l.presses("s")
	l.sees("You have not passed this exercise yet. Show the solution? y = yes")
	l.presses("x")
	l.sees(bar)
	l.presses("e")
	l.sees("The explanation comes when the exercise is passed.", bar)
	l.presses("r")
	l.sees("Reset: 1 = this exercise")
	l.presses("1")
	l.sees("Exercise 3 is as it began. What was there is in _copies/001.", "✗ delete-foreign", bar)
	l.presses("x")
	l.sees("Searching the schedules of your lock", "leak in crash", "The shortest way to break wrong-delete", "mutex.go:", "BROKEN: wrong delete", "schedules of your lock", bar)
	require.NoError(t, l.keys.Close())
	require.NoError(t, <-l.ended, "the end of the keys ends the loop")
	copied, err := l.folder.lock("_copies/001")
	require.NoError(t, err)
	require.Contains(t, copied["mutex.go"], "uuid.NewSring")
}

package foreign

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"lockkata/failures_test/live/fleet"
	"lockkata/internal/i18n"
)

// startsWithin is how long a worker may take until it can be asked.
const startsWithin = 15 * time.Second

// What is wrong with a worker.
var (
	doesNotStart = i18n.New("the worker does not start: {error}")
	endsEarly    = i18n.New("the worker ended before it said ready 1")
	isNotReady   = i18n.New("the worker has not said ready 1 within {limit}: does it flush its output?")
	saysOther    = i18n.New("the worker has to say ready 1 first, but printed {line}")
	saysShared   = i18n.New("the worker says ready 1 shared: add --shared")
	notShared    = i18n.New("with --shared the worker has to say ready 1 shared, but it printed {line}")
	hasEnded     = i18n.New("the worker has ended")
	noAnswer     = i18n.New("the worker has not answered {question}")
	otherAnswer  = i18n.New("the worker has not answered {question}, but printed {line}")
	wrote        = i18n.New("{what}; it wrote: {words}")
)

// worker is a process that hosts locks: one lock, or with --shared the locks of many processes.
type worker struct {
	process *fleet.Process
	says    []string      // the words after "ready 1"
	ready   chan struct{} // closed when it has said its first line
	output  *excerpt      // the lines that are no answers
	words   excerpt       // its standard error

	mu      sync.Mutex
	first   string // line
	other   string // the last line that is no answer
	partial []byte
	asked   map[string]chan answer // nil when it has ended
	numbers int
	lose    map[string]func(caller string) // by PROC; "" for a worker of one lock
}

// answer is the answer to a question: one of the words, and a text.
type answer struct{ word, text string }

var words = []string{"yes", "no", "timeout", "refused", "unknown", "unsupported"}

// startWorker starts a worker, which ends with ctx, and waits until it can be asked.
func startWorker(ctx context.Context, command, env []string, shared bool, output *excerpt) (*worker, error) {
	w := &worker{ready: make(chan struct{}), asked: map[string]chan answer{}, lose: map[string]func(string){}, output: output}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w, &w.words, time.Second
	var err error
	if w.process, err = fleet.Start(cmd); err != nil {
		return nil, doesNotStart.Args("error", err)
	}
	select {
	case <-w.ready:
		err = w.understand(shared)
	case <-w.process.Ended():
		err = endsEarly.Args()
	case <-time.After(startsWithin):
		err = isNotReady.Args("limit", startsWithin)
	}
	if err != nil {
		w.process.Kill()
		return nil, w.quote(err)
	}
	go func() {
		<-w.process.Ended()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, waiting := range w.asked {
			close(waiting)
		}
		w.asked = nil
	}()
	return w, nil
}

// understand reads the first line.
func (w *worker) understand(shared bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := strings.Fields(w.first)
	isReady := len(said) > 1 && said[0] == "ready" && said[1] == "1"
	isShared := isReady && slices.Contains(said, "shared")
	quoted := quoted(w.first)
	switch {
	case shared && !isShared:
		return notShared.Args("line", quoted)
	case !isReady:
		return saysOther.Args("line", quoted)
	case isShared && !shared:
		return saysShared.Args()
	}
	w.says = slices.DeleteFunc(said[2:], func(word string) bool { return word == "shared" })
	return nil
}

// quoted returns the beginning of a line in quotes.
func quoted(line string) string { return strconv.Quote(line[:min(len(line), 60)]) }

// quote adds what the worker wrote to standard error.
func (w *worker) quote(err error) error {
	if words := w.words.String(); words != "" {
		return wrote.Args("what", err, "words", words)
	}
	return err
}

// silence returns that the worker has not answered a question, and what it printed instead.
func (w *worker) silence(question ...string) error {
	asked := strconv.Quote(strings.Join(question, " "))
	w.mu.Lock()
	other := cmp.Or(string(w.partial), w.other)
	w.mu.Unlock()
	if other != "" {
		return w.quote(otherAnswer.Args("question", asked, "line", quoted(other)))
	}
	return w.quote(noAnswer.Args("question", asked))
}

// longest is the longest line of a worker that is read.
const longest = 1 << 16

// Write gets the worker's standard output.
func (w *worker) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partial = append(w.partial, p...)
	for {
		line, rest, found := bytes.Cut(w.partial, []byte("\n"))
		if !found && len(w.partial) < longest {
			return len(p), nil
		}
		w.read(strings.TrimRight(string(line), "\r"))
		w.partial = append(w.partial[:0], rest...)
	}
}

// read understands one line. w.mu is held.
func (w *worker) read(line string) {
	id, rest, _ := strings.Cut(line, " ")
	word, text, _ := strings.Cut(rest, " ")
	waiting, isAsked := w.asked[id]
	proc, caller, found := strings.Cut(rest, "/")
	if !found {
		proc, caller = "", rest
	}
	lose, isLock := w.lose[proc]
	switch {
	case w.first == "":
		if w.first = line; line != "" {
			close(w.ready)
		}
	case isAsked && slices.Contains(words, word):
		waiting <- answer{word, text}
		delete(w.asked, id)
	case id == "lost" && isLock:
		lose(caller)
	default:
		w.other = line
		_, _ = w.output.Write([]byte(line + "\n")) // never fails
	}
}

// ask sends a question. The channel gets the answer; it is closed without one when the worker ends.
func (w *worker) ask(question ...string) (id string, waiting chan answer) {
	w.mu.Lock()
	w.numbers++
	id, waiting = strconv.Itoa(w.numbers), make(chan answer, 1)
	if w.asked == nil {
		close(waiting)
	} else {
		w.asked[id] = waiting
	}
	w.mu.Unlock()
	_ = w.process.TellLine(id + " " + strings.Join(question, " ")) // a worker that has ended does not get it
	return id, waiting
}

// hears lets a lock know of its losses.
func (w *worker) hears(l *lock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose[l.name] = l.lose
}

// excerpt keeps the beginning and the end of what is written.
type excerpt struct {
	mu         sync.Mutex
	first, end []byte
}

// mostKept is how many bytes of each an excerpt keeps.
const mostKept = 1 << 11

// Write never fails.
func (e *excerpt) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	room := min(mostKept-len(e.first), len(p))
	e.first, e.end = append(e.first, p[:room]...), append(e.end, p[room:]...)
	e.end = e.end[max(0, len(e.end)-mostKept):]
	return len(p), nil
}

// String returns the first line with a letter or a digit and the last ones, as one. An exception of Java begins with what
// is wrong, one of Python ends with it.
func (e *excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(string(e.first)+string(e.end), "\r", "\n")) {
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if n := len(lines); n > 4 {
		lines = append([]string{lines[0], "…"}, lines[n-3:]...)
	}
	return strings.Join(lines, " / ")
}

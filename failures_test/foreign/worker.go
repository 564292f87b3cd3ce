package foreign

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockkata/failures_test/live/fleet"
	"lockkata/internal/i18n"
)

// startsWithin is how long a worker may take until it can be asked.
const startsWithin = 15 * time.Second

// What is wrong with a worker.
var (
	doesNotStart = i18n.New("the worker does not start: {error}")
	endsEarly    = i18n.New("the worker ended before it said ready 1")
	isNotReady   = i18n.New("the worker has not said ready 1 within {limit}")
	saysOther    = i18n.New("the worker has to say ready 1 first, but printed {line}")
	saysShared   = i18n.New("the worker says ready 1 shared: add --shared")
	notShared    = i18n.New("with --shared the worker has to say ready 1 shared, but it printed {line}")
	hasEnded     = i18n.New("the worker has ended")
	lastWords    = i18n.New("{what}; its last words: {words}")
)

// worker is a process that hosts locks: one lock, or with --shared the locks of many processes.
type worker struct {
	process *fleet.Process
	says    []string      // the words after "ready 1"
	ready   chan struct{} // closed when it has said its first line
	output  *ending       // the lines that are no answers
	words   ending        // its standard error

	mu      sync.Mutex
	first   string // line
	partial []byte
	asked   map[string]chan answer // nil when it has ended
	numbers int
	lose    map[string]func(caller string) // by PROC; "" for a worker of one lock
}

// answer is the answer to a question: one of the words, and a text.
type answer struct{ word, text string }

var words = []string{"yes", "no", "timeout", "refused", "unknown", "unsupported"}

// startWorker starts a worker, which ends with ctx, and waits until it can be asked.
func startWorker(ctx context.Context, command, env []string, shared bool, output *ending) (*worker, error) {
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
	quoted := strconv.Quote(w.first[:min(len(w.first), 60)])
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

// quote adds the worker's last words to an error.
func (w *worker) quote(err error) error {
	lines := strings.FieldsFunc(w.words.String(), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return err
	}
	return lastWords.Args("what", err, "words", strings.Join(lines[max(0, len(lines)-3):], " / "))
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

// ending keeps the end of what is written.
type ending struct {
	mu   sync.Mutex
	text []byte
}

// mostKept is how many bytes an ending keeps.
const mostKept = 1 << 12

// Write never fails.
func (e *ending) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	e.text = e.text[max(0, len(e.text)-mostKept):]
	return len(p), nil
}

func (e *ending) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.text)
}

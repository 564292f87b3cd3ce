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

	"lockkata/failures_test/live/fleet"
	"lockkata/internal/i18n"
)

// protocol is the version that a worker has to name.
const protocol = "1"

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
	wrote        = i18n.New("{what}; it wrote: {words}")
)

// worker is a process that hosts locks: one lock, or with --shared the locks of many processes.
type worker struct {
	process *fleet.Process
	says    []string      // the words after "ready 1"
	ready   chan struct{} // closed when it has said its first line
	output  *beginning    // the lines that are no answers
	words   excerpt       // its standard error

	mu      sync.Mutex
	first   string // line
	other   string // the last line that is no answer
	partial []byte
	asked   map[string]chan answer
	numbers int
	lost    map[string]func(caller string) // by PROC; "" for a worker of one lock
}

// answer is the answer to a question. Without a word the worker has ended.
type answer struct{ word, text string }

// words of answers
const (
	yes, no, timeout, refused, unknown, unsupported = "yes", "no", "timeout", "refused", "unknown", "unsupported"
)

var answers = []string{yes, no, timeout, refused, unknown, unsupported}

// startWorker starts a worker and waits until it can be asked.
func startWorker(ctx context.Context, command, env []string, shared bool, output *beginning) (*worker, error) {
	w := &worker{ready: make(chan struct{}), asked: map[string]chan answer{}, lost: map[string]func(string){}, output: output}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w, &w.words, time.Second
	var err error
	if w.process, err = fleet.Start(cmd); err != nil {
		return nil, doesNotStart.Args("error", err)
	}
	limited, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	select {
	case <-w.ready:
		err = w.understand(shared)
	case <-w.process.Ended():
		err = endsEarly.Args()
	case <-limited.Done():
		if err = ctx.Err(); err == nil {
			err = isNotReady.Args("limit", startsWithin)
		}
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
	words := strings.Fields(w.first)
	if len(words) < 2 || words[0] != "ready" || words[1] != protocol {
		return saysOther.Args("line", quoted(w.first))
	}
	w.says = slices.DeleteFunc(words[2:], func(word string) bool { return word == "shared" })
	switch isShared := len(w.says) < len(words)-2; {
	case isShared && !shared:
		return saysShared.Args()
	case shared && !isShared:
		return notShared.Args("line", quoted(w.first))
	}
	return nil
}

// quoted returns the beginning of a line in quotes.
func quoted(line string) string { return strconv.Quote(line[:min(len(line), 60)]) }

// quotedEnd returns the end of a line in quotes.
func quotedEnd(line string) string {
	if len(line) > 60 {
		line = "…" + strings.ToValidUTF8(line[len(line)-60:], "")
	}
	return strconv.Quote(line)
}

// quote adds what the worker wrote to standard error.
func (w *worker) quote(err error) error {
	if words := w.words.String(); words != "" {
		return wrote.Args("what", err, "words", words)
	}
	return err
}

// quoteLine adds the worker's last line to an error, if it was no answer.
func (w *worker) quoteLine(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if line := cmp.Or(string(w.partial), w.other); line != "" {
		return alsoPrinted.Args("what", err, "line", quotedEnd(line))
	}
	return err
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
	tell, isLock := w.lost[proc]
	switch {
	case w.first == "":
		if w.first = line; line != "" {
			close(w.ready)
		}
	case isAsked && slices.Contains(answers, word):
		waiting <- answer{word, text}
		delete(w.asked, id)
	case id == "lost" && isLock:
		tell(caller)
	default:
		w.other = line
		w.output.add(line)
	}
}

// ask sends a question. The channel gets the answer; it is closed without one when the worker ends.
func (w *worker) ask(words ...string) (id string, waiting chan answer) {
	w.mu.Lock()
	w.numbers++
	id, waiting = strconv.Itoa(w.numbers), make(chan answer, 1)
	if w.asked == nil {
		close(waiting)
	} else {
		w.asked[id] = waiting
	}
	w.mu.Unlock()
	w.tell(id, words...)
	return id, waiting
}

// tell sends a line. A worker that has ended does not get it.
func (w *worker) tell(id string, words ...string) {
	_ = w.process.TellLine(id + " " + strings.Join(words, " "))
}

// hears sets who is told when a worker says that a caller of a process has lost its hold; nil: nobody.
func (w *worker) hears(proc string, tell func(caller string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost[proc] = tell; tell == nil {
		delete(w.lost, proc)
	}
}

// beginning keeps the first lines that any worker has printed.
type beginning struct {
	mu   sync.Mutex
	text strings.Builder
}

// mostOutput is how many bytes of a worker's output are kept.
const mostOutput = 1 << 12

func (b *beginning) add(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := mostOutput - b.text.Len(); room > 0 {
		b.text.WriteString((line + "\n")[:min(room, len(line)+1)])
	}
}

func (b *beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// excerpt keeps the beginning and the end of what is written.
type excerpt struct {
	mu         sync.Mutex
	first, end []byte
}

// Write keeps the first and the last bytes.
func (e *excerpt) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	room := min(mostOutput-len(e.first), len(p))
	e.first = append(e.first, p[:room]...)
	e.end = append(e.end, p[room:]...)
	e.end = e.end[max(0, len(e.end)-mostOutput):]
	return len(p), nil
}

// String returns the first line and the last ones that are not empty, as one. A compiler and a Java exception begin
// with what is wrong, a Python exception ends with it.
func (e *excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	lines := strings.FieldsFunc(string(e.first)+string(e.end), func(r rune) bool { return r == '\n' || r == '\r' })
	if n := len(lines); n > 4 {
		lines = append([]string{lines[0], "…"}, lines[n-3:]...)
	}
	return strings.Join(lines, " / ")
}

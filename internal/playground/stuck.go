package playground

import (
	"encoding/json"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/playground/interpreter"
	"lockkata/internal/texts"
)

var (
	waitsForever = texts.New("it waits for what never comes")
	stoppedHere  = texts.New("the lock was stopped here: it goes on without end, or waits for what never comes")
)

// bubbled is a goroutine in a bubble, and what it does.
var bubbled = regexp.MustCompile(`(?m)^goroutine (\d+) \[([^\]\n]*synctest bubble[^\]\n]*)\]:$`)

// Sign is asked now and then while a request is answered. It is nil while the lock that a
// visitor wrote gets on: while it sends commands, and time passes from one to the next. Else
// it is what Stuck says.
func (e *Engine) Sign() []byte {
	if e.written == nil {
		return nil
	}
	before, now := e.seen, e.written.sent.Load()
	e.seen = now
	if now != nil && (before == nil || now.at.Sub(before.at).Abs() >= time.Millisecond) { // in a new world it goes back
		return nil
	}
	return e.Stuck()
}

// Stuck is the answer to a request that does not end. It has the line at which the lock is
// that a visitor wrote.
func (e *Engine) Stuck() []byte {
	said := fault{Error: waitsForever.In(e.lang)}
	if line, ok := e.written.stuck(); ok {
		said.Problems = problems{interpreter.ProblemAt(path.Base(line.File), line.Line, stoppedHere.With())}.all(e.lang)
		said.Error = said.Problems[0].Error()
	}
	raw, err := json.Marshal(said)
	if err != nil {
		panic("playground: a fault is always JSON: " + err.Error())
	}
	return raw
}

// stuck is where the lock is: the line of a goroutine that runs, or waits inside a library,
// while the others wait durably, as the runtime calls it; else that of the newest command.
func (w *written) stuck() (line world.Source, ok bool) {
	if w == nil {
		return line, false
	}
	stacks := make([]byte, 1<<20)
	for _, g := range bubbled.FindAllStringSubmatch(string(stacks[:runtime.Stack(stacks, true)]), -1) {
		id, err := strconv.ParseUint(g[1], 10, 64)
		if err != nil || strings.Contains(g[2], "durable") {
			continue
		}
		if line, _ = w.line(id); line.File != "" {
			return line, true
		}
	}
	if newest := w.sent.Load(); newest != nil {
		return newest.line, true
	}
	return line, false
}

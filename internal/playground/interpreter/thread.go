package interpreter

import (
	"errors"
	"fmt"
	"go/token"
	"path"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// What a lock may use before it is said to go on without end. A stage needs some thousand
// steps in a run of an hour.
const (
	mostSteps      = 2_000_000 // of a run
	mostAtOnce     = 300_000   // while no time passes
	mostGoroutines = 500
	mostDepth      = 200     // calls within calls, while no time passes
	mostCalls      = 10_000  // calls within calls
	mostElements   = 1 << 22 // of a slice, a channel, a string
	mostMemory     = 1 << 29 // bytes that a run makes, of slices and strings
	checkEvery     = 1 << 8  // a power of two
	nativeSteps    = 20      // what a call of a library counts as
)

// program is a lock that runs.
type program struct {
	natives  *natives
	fset     *token.FileSet
	dir      string
	compiler *compiler

	threads    sync.Map // goroutine → *thread
	steps      atomic.Int64
	moment     atomic.Int64 // when the steps at that moment were last counted from
	since      atomic.Int64 // the count of steps then
	goroutines atomic.Int64
	memory     atomic.Int64  // what the run has made
	run        atomic.Uint64 // its number, 0 before all
	channels   sync.Map      // channel or WaitGroup → the run that made it, or used it first
	trouble    atomic.Pointer[Problem]
	stopped    atomic.Bool
}

// thread is a goroutine that runs code of the lock.
type thread struct {
	program *program
	id      uint64 // of the goroutine
	top     *frame
	died    *frame // where a panic under way began
	depth   int
	reached []int64 // when the depth was 0, mostDepth, twice mostDepth, …
}

// frame is a call of a function under way.
type frame struct {
	thread *thread
	caller *frame
	code   *code
	at     token.Pos
	vars   []reflect.Value

	defers    []func()
	deferrer  *frame // whose deferred call this is, during a panic
	panicking bool
	panicked  any
}

// errStopped is what ends the code of a lock that was stopped.
var errStopped = errors.New("the lock was stopped")

// stop ends the lock: from now on nothing of it runs.
func (f *frame) stop(why texts.Said) {
	f.thread.program.fail(f, why)
	f.thread.program.stopped.Store(true)
	panic(errStopped)
}

// fail notes what is wrong at the line where a frame is; the first one counts.
func (p *program) fail(f *frame, why texts.Said) {
	problem := p.problem(f.place().at, why)
	p.trouble.CompareAndSwap(nil, &problem)
}

func (p *program) problem(at token.Pos, why texts.Said) Problem {
	return problemAt(p.fset.Position(at), why)
}

func problemAt(where token.Position, why texts.Said) Problem {
	return Problem{where.Filename, where.Line, where.Column, why.Error(), why}
}

// begin counts the steps anew.
func (p *program) begin() {
	p.steps.Store(0)
	p.since.Store(0)
	p.moment.Store(0)
	p.memory.Store(0)
	p.enterRun()
}

// step is one statement.
func (f *frame) step(at token.Pos) {
	f.at = at
	f.spend(1)
}

func (f *frame) spend(steps int64) {
	p := f.thread.program
	if p.stopped.Load() {
		panic(errStopped)
	}
	n := p.steps.Add(steps)
	if n&(checkEvery-1) >= steps {
		return
	}
	now := time.Now().UnixNano()
	switch {
	case n > mostSteps:
		f.stop(withoutEnd.With())
	case p.moment.Swap(now) != now:
		p.since.Store(n)
	case n-p.since.Load() > mostAtOnce:
		f.stop(endlessLoop.With())
	}
}

// takes is told of memory that the lock takes. What it gives back does not count.
func (f *frame) takes(bytes int) {
	if f.thread.program.memory.Add(int64(bytes)) > mostMemory {
		f.stop(tooMuch.With())
	}
}

// enter is the thread of this goroutine, and tells whether it is new: then it has to leave.
func (p *program) enter() (t *thread, isNew bool) {
	t = &thread{program: p, id: world.GoroutineID(), reached: []int64{time.Now().UnixNano()}}
	known, there := p.threads.LoadOrStore(t.id, t)
	return known.(*thread), !there
}

// deepen counts a call within calls. A lock may call itself whenever it has waited.
func (t *thread) deepen(f *frame) {
	t.depth++
	if t.depth%mostDepth != 0 {
		return
	}
	n, now := t.depth/mostDepth, time.Now().UnixNano()
	if now == t.reached[n-1] || t.depth == mostCalls {
		f.stop(tooDeep.With("n", t.depth))
	}
	t.reached = append(t.reached[:n], now)
}

func (t *thread) leave() { t.program.threads.Delete(t.id) }

// start runs a call on a goroutine of its own.
func (f *frame) start(call results) {
	p, at := f.thread.program, f.at
	if p.goroutines.Add(1) > mostGoroutines {
		f.stop(tooMany.With("n", mostGoroutines))
	}
	go func() {
		defer p.goroutines.Add(-1)
		p.within(func(f *frame) {
			f.at = at
			call(f)
		}, false)
	}()
}

// note says that a panic got out of the code.
func (t *thread) note(v any) {
	at := t.died
	if at == nil {
		at = t.top
	}
	if v != errStopped && at != nil {
		t.program.fail(at, panicked.With("what", fmt.Sprint(v)))
	}
}

// Line is the line of the lock that a goroutine has come to: what the world asks when a
// command is sent. A function that only passes on what others send does not count. ok tells
// whether the goroutine is one of the lock's.
func (p *program) Line(goroutine uint64) (line world.Source, ok bool) {
	known, ok := p.threads.Load(goroutine)
	if !ok {
		return line, false
	}
	for f := known.(*thread).top; f != nil; f = f.caller {
		if !f.code.passesOn {
			where := p.fset.Position(f.at)
			return world.Source{File: path.Join(p.dir, where.Filename), Line: where.Line, Function: f.code.name}, true
		}
	}
	return line, true // go rdb.Del(ctx, key): a compiled lock's stack has no line of it either
}

// runtimeError is a panic that the runtime of a compiled lock would begin.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError marks it.
func (runtimeError) RuntimeError() {}

// conversionError is one that an assertion of a type would begin.
type conversionError string

func (e conversionError) Error() string { return "interface conversion: " + string(e) }

// RuntimeError marks it.
func (conversionError) RuntimeError() {}

const nilPointer = runtimeError("invalid memory address or nil pointer dereference")

package interpreter

import (
	"reflect"
	"runtime"
	"slices"
)

// call runs a function of the lock. The arguments begin with the receiver. deferrer is the
// frame that has deferred the call, while a panic unwinds it.
func (t *thread) call(code *code, captured, args []reflect.Value, deferrer *frame) []reflect.Value {
	f := &frame{thread: t, caller: t.top, code: code, vars: make([]reflect.Value, code.vars), deferrer: deferrer}
	if t.top != nil {
		f.at = t.top.at
	}
	t.deepen(f)
	t.top = f
	for i, p := range code.params {
		v := p.zero()
		v.Set(args[i])
		f.vars[p.slot] = v
	}
	for _, r := range code.results {
		f.vars[r.slot] = r.zero()
	}
	for i, slot := range code.captured {
		f.vars[slot] = captured[i]
	}
	f.run()
	t.top = f.caller
	t.depth--
	return f.values()
}

// run executes the body, and what it deferred.
func (f *frame) run() {
	f.guarded(func() { f.code.body(f) })
	for len(f.defers) > 0 {
		next := f.defers[len(f.defers)-1]
		f.defers = f.defers[:len(f.defers)-1]
		f.guarded(next)
	}
	if f.panicking {
		panic(f.panicked)
	}
}

// guarded runs a part of the function. A panic there waits until what is deferred has run,
// and takes the place of one before.
func (f *frame) guarded(part func()) {
	depth := f.thread.depth
	defer func() {
		v := recover()
		switch {
		case v == nil:
			return
		case v == errStopped:
			panic(v)
		case f.thread.died == nil:
			f.thread.died = f.thread.top.place()
		}
		f.thread.top, f.thread.depth = f, depth
		f.panicking, f.panicked = true, v
	}()
	part()
}

// place is the frame as it is now, or the one that has come to what is written beside the lock.
func (f *frame) place() *frame {
	for f.code.shelved && f.caller != nil {
		f = f.caller
	}
	return &frame{thread: f.thread, code: f.code, at: f.at}
}

// values are what the function returns.
func (f *frame) values() []reflect.Value {
	values := make([]reflect.Value, len(f.code.results))
	for i, r := range f.code.results {
		values[i] = f.vars[r.slot]
	}
	return values
}

// deferring is the frame if what it calls now is what it has deferred, during a panic.
func (f *frame) deferring() *frame {
	if f.panicking {
		return f
	}
	return nil
}

// function is a function of Go's, which libraries can call too.
func (p *program) function(t reflect.Type, run func(*frame, []reflect.Value) []reflect.Value) reflect.Value {
	return reflect.MakeFunc(t, func(args []reflect.Value) (out []reflect.Value) {
		p.within(func(f *frame) { out = run(f, args) }, false)
		for i := range t.NumOut() {
			if out == nil || i >= len(out) { // it panicked on a goroutine of a library's
				out = append(out, reflect.Zero(t.Out(i)))
			}
		}
		return out
	})
}

// within runs code of the lock on a goroutine of somebody else's: of the world, which catches
// a panic, or of a library, where nobody would.
func (p *program) within(run func(*frame), caught bool) {
	t, isNew := p.enter()
	if isNew {
		defer t.leave()
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			t.note(v)
			if caught {
				panic(v)
			}
		}()
	}
	run(t.frame())
}

// frame is the present one, or that from which the thread's first call is made.
func (t *thread) frame() *frame {
	if t.top != nil {
		return t.top
	}
	return &frame{thread: t, code: &code{passesOn: true}}
}

// invoke calls a method on its receiver.
func (f *frame) invoke(m *method, recv reflect.Value, args []reflect.Value) []reflect.Value {
	switch {
	case m.code != nil:
		return f.thread.call(m.code, nil, slices.Concat([]reflect.Value{recv}, args), f.deferring())
	case m.try.IsValid():
		f.lock(m.try, recv)
		return nil
	case m.free.IsValid() && m.free.Call([]reflect.Value{recv})[0].Bool():
		f.stop(notHeld.With("method", m.name))
	case m.native.IsValid():
		if recv.Type() == waitGroup {
			f.groups(m.name, recv)
		}
		return f.native(m.native, slices.Concat([]reflect.Value{recv}, args))
	}
	return f.dynamicCall(dynamic(recv), m.name, args)
}

// mostYields is how often a goroutine lets others run before a mutex is said to be held by
// one that waits.
const mostYields = 1 << 17

// lock takes a mutex. A bubble never comes to rest while a goroutine waits for one.
func (f *frame) lock(try, mutex reflect.Value) {
	for range mostYields {
		if try.Call([]reflect.Value{mutex})[0].Bool() {
			return
		}
		runtime.Gosched()
	}
	f.stop(waitsForLock.With())
}

// native calls a function of a library, or a function value. What a variadic one gets is in
// a slice already.
func (f *frame) native(function reflect.Value, args []reflect.Value) []reflect.Value {
	f.spend(nativeSteps)
	call := function.Call
	if function.Type().IsVariadic() {
		call = function.CallSlice
	}
	out := call(args)
	if len(out) > 0 && out[0].Kind() == reflect.String {
		f.takes(out[0].Len())
	}
	return out
}

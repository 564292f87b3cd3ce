package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
)

// builtin is a call of a function that Go itself has.
func (c *compiler) builtin(e *ast.CallExpr, name string) eval {
	prepare := c.prepareBuiltin(e, name)
	return func(f *frame) reflect.Value {
		if out := prepare(f)(f); len(out) > 0 {
			return out[0]
		}
		return reflect.Value{}
	}
}

// prepareBuiltin evaluates the arguments; what it returns does the rest.
func (c *compiler) prepareBuiltin(e *ast.CallExpr, name string) func(*frame) results {
	switch name {
	case "make":
		return c.makeCall(e)
	case "new":
		return c.newCall(e)
	case "append":
		return c.appendCall(e)
	case "min", "max":
		return c.extreme(e, name)
	case "recover":
		return func(*frame) results {
			return func(f *frame) []reflect.Value { return []reflect.Value{f.recovered()} }
		}
	}
	var values []eval
	for i, arg := range e.Args {
		switch m, isMap := c.typeOf(e.Args[0]).Underlying().(*types.Map); {
		case name == "panic":
			values = append(values, c.as(arg, types.Universe.Lookup("any").Type()))
		case name == "delete" && isMap && i == 1:
			values = append(values, c.as(arg, m.Key()))
		default:
			values = append(values, c.expr(arg))
		}
	}
	do := map[string]func(*frame, []reflect.Value) []reflect.Value{
		"len": func(_ *frame, a []reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(a[0].Len())} },
		"cap": func(_ *frame, a []reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(a[0].Cap())} },
		"copy": func(_ *frame, a []reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.ValueOf(reflect.Copy(a[0], a[1]))}
		},
		"close":   func(f *frame, a []reflect.Value) []reflect.Value { f.ours(a[0]).Close(); return nil },
		"delete":  func(_ *frame, a []reflect.Value) []reflect.Value { a[0].SetMapIndex(a[1], reflect.Value{}); return nil },
		"clear":   func(_ *frame, a []reflect.Value) []reflect.Value { a[0].Clear(); return nil },
		"panic":   func(f *frame, a []reflect.Value) []reflect.Value { panic(f.panicValue(a[0])) },
		"print":   func(_ *frame, a []reflect.Value) []reflect.Value { Printed.values(a, "", ""); return nil },
		"println": func(_ *frame, a []reflect.Value) []reflect.Value { Printed.values(a, " ", "\n"); return nil },
	}[name]
	if do == nil {
		c.refuse(e.Pos(), theFunction.With("name", name))
	}
	all := c.list(e.Args, values)
	return func(f *frame) results {
		args := all(f)
		return func(f *frame) []reflect.Value { return do(f, args) }
	}
}

// panicValue is what a library, and fmt, can make something of.
func (f *frame) panicValue(v reflect.Value) any {
	v = dynamic(v)
	if !v.IsValid() {
		return new(runtime.PanicNilError)
	}
	return f.inInterface(v, anyType).Interface()
}

// recovered ends the panic that runs the deferred call, and is its value.
func (f *frame) recovered() reflect.Value {
	v := reflect.New(anyType).Elem()
	if d := f.deferrer; d != nil && d.panicking {
		d.panicking, f.thread.died = false, nil
		v.Set(dynamic(reflect.ValueOf(d.panicked)))
	}
	return v
}

// fixed is the results of a builtin that has evaluated everything.
func fixed(v reflect.Value) results {
	return func(*frame) []reflect.Value { return []reflect.Value{v} }
}

func (c *compiler) makeCall(e *ast.CallExpr) func(*frame) results {
	t := c.typeOf(e)
	r := c.reflected(t)
	var sizes []eval
	for _, arg := range e.Args[1:] {
		sizes = append(sizes, c.expr(arg))
	}
	return func(f *frame) results {
		n := [2]int{}
		for i, size := range sizes {
			n[i] = int(integer(size(f)))
			if i == 0 {
				n[1] = n[0]
			}
			if n[i] < 0 {
				panic(runtimeError("makeslice: len out of range"))
			}
			if n[i] > mostElements {
				f.stop(tooLong.With("n", n[i]))
			}
		}
		switch r.Kind() {
		case reflect.Chan:
			return fixed(f.thread.program.made(reflect.MakeChan(r, n[0])))
		case reflect.Map:
			return fixed(reflect.MakeMap(r))
		}
		f.takes(n[1] * int(r.Elem().Size()))
		return fixed(reflect.MakeSlice(r, n[0], n[1]))
	}
}

// newCall is a new variable, of a type or with a value.
func (c *compiler) newCall(e *ast.CallExpr) func(*frame) results {
	of := c.typeOf(e).Underlying().(*types.Pointer).Elem()
	pointerTo, get := c.pointerTo(of), eval(nil)
	if !c.info.Types[e.Args[0]].IsType() {
		get = c.as(e.Args[0], of)
	}
	zero := c.zero(of)
	return func(f *frame) results {
		v := zero()
		if get != nil {
			v.Set(get(f))
		}
		return fixed(pointerTo(v))
	}
}

func (c *compiler) appendCall(e *ast.CallExpr) func(*frame) results {
	t := c.typeOf(e)
	to := c.as(e.Args[0], t)
	var more []eval
	for _, arg := range e.Args[1:] {
		if e.Ellipsis.IsValid() {
			more = append(more, c.expr(arg))
		} else {
			more = append(more, c.as(arg, t.Underlying().(*types.Slice).Elem()))
		}
	}
	rest := c.list(e.Args[1:], more)
	return func(f *frame) results {
		values := rest(f)
		list := to(f)
		room := list.Cap()
		if e.Ellipsis.IsValid() {
			if values[0].Kind() == reflect.String {
				values[0] = values[0].Convert(list.Type())
			}
			if values[0].IsValid() {
				list = reflect.AppendSlice(list, values[0])
			}
		} else {
			list = reflect.Append(list, values...)
		}
		if list.Len() > mostElements {
			f.stop(tooLong.With("n", list.Len()))
		}
		if list.Cap() > room {
			f.takes(list.Cap() * int(list.Type().Elem().Size()))
		}
		return fixed(list)
	}
}

func (c *compiler) extreme(e *ast.CallExpr, name string) func(*frame) results {
	var values []eval
	for _, arg := range e.Args {
		values = append(values, c.as(arg, c.typeOf(e)))
	}
	all, better := c.list(e.Args, values), token.LSS
	if name == "max" {
		better = token.GTR
	}
	return func(f *frame) results {
		args := all(f)
		best := args[0]
		for _, v := range args[1:] {
			if ordered(better, v, best) || !v.Equal(v) { // only NaN is not equal to itself
				best = v
			}
		}
		return fixed(best)
	}
}

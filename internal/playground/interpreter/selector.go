package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// chosen is what a selector names: a field or a method, and the way to it. In the code of a
// generic function it is the one of the type that the function is instantiated with.
func (c *compiler) chosen(e *ast.SelectorExpr) (o types.Object, index []int) {
	selection := c.info.Selections[e]
	if len(c.params) == 0 {
		return selection.Obj(), selection.Index()
	}
	o, index, _ = types.LookupFieldOrMethod(c.typeOf(e.X), true, selection.Obj().Pkg(), e.Sel.Name)
	return o, index
}

// selector is a field, a method as a value, or a name of a package.
func (c *compiler) selector(e *ast.SelectorExpr) eval {
	selection, ok := c.info.Selections[e]
	if !ok {
		return c.ident(e.Sel)
	}
	o, index := c.chosen(e)
	switch selection.Kind() {
	case types.FieldVal:
		get, path := c.operand(e.X), c.path(c.typeOf(e.X), index)
		return func(f *frame) reflect.Value { return path(get(f)) }
	case types.MethodVal:
		get, t := c.operand(e.X), c.reflected(c.typeOf(e))
		m := c.method(e.Pos(), c.typeOf(e.X), o.(*types.Func), index)
		return func(f *frame) reflect.Value {
			recv := m.receiver(get(f))
			return f.thread.program.function(t, func(f *frame, args []reflect.Value) []reflect.Value {
				return f.invoke(m, recv, args)
			})
		}
	}
	t, m := c.reflected(c.typeOf(e)), c.method(e.Pos(), c.typeOf(e.X), o.(*types.Func), index)
	return func(f *frame) reflect.Value {
		return f.thread.program.function(t, func(f *frame, args []reflect.Value) []reflect.Value {
			return f.invoke(m, m.receiver(args[0]), args[1:])
		})
	}
}

// objectOf is what a name means, also one of a package; nil for other expressions.
func (c *compiler) objectOf(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		return c.info.ObjectOf(e)
	case *ast.SelectorExpr:
		return c.info.ObjectOf(e.Sel)
	}
	return nil
}

// way leads from a value to a part of it.
type way func(reflect.Value) reflect.Value

// path follows fields, through what is embedded.
func (c *compiler) path(t types.Type, index []int) way {
	path := way(func(v reflect.Value) reflect.Value { return v })
	for n, i := range index {
		step := c.field(t, i)
		if before := path; n > 0 {
			path = func(v reflect.Value) reflect.Value { return step(before(v)) }
		} else {
			path = step
		}
		t = fieldType(t, i)
	}
	return path
}

// structure is the struct type of a value, or of what it points to.
func structure(t types.Type) (of types.Type, isPointer bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem(), true
	}
	return t, false
}

func fieldType(t types.Type, i int) types.Type {
	of, _ := structure(t)
	return of.Underlying().(*types.Struct).Field(i).Type()
}

func (c *compiler) field(t types.Type, i int) way {
	of, isPointer := structure(t)
	get := func(v reflect.Value) reflect.Value { return v.Field(i) }
	if c.structOf(of) == nil {
		name := of.Underlying().(*types.Struct).Field(i).Name()
		get = func(v reflect.Value) reflect.Value { return v.FieldByName(name) }
	}
	if !isPointer {
		return get
	}
	deref := c.deref(t)
	return func(v reflect.Value) reflect.Value { return get(deref(v)) }
}

// method is one that a type has, itself or through what it embeds, with the way to its
// receiver. It is the lock's, a library's, or that of an interface of the lock.
type method struct {
	name     string
	receiver way
	code     *code
	native   reflect.Value
	try      reflect.Value // of a mutex: instead of the method, which would wait
	free     reflect.Value // of a mutex: succeeds where the method would end the process
	many     bool          // it returns a slice
}

// method is that of a selection on values of a type.
func (c *compiler) method(at token.Pos, of types.Type, f *types.Func, index []int) *method {
	path, t := c.path(of, index[:len(index)-1]), of
	for _, i := range index[:len(index)-1] {
		t = fieldType(t, i)
	}
	m := &method{name: f.Name()}
	if results := f.Signature().Results(); results.Len() == 1 {
		_, m.many = results.At(0).Type().Underlying().(*types.Slice)
	}
	if types.IsInterface(t) {
		if c.reflected(t) != anyType {
			m.native = c.natives.methods[f]
		}
		if t == types.Universe.Lookup("error").Type() {
			m.native = common["Error"]
		}
		m.receiver = func(v reflect.Value) reflect.Value {
			if v = path(v); v.IsNil() {
				panic(nilPointer)
			}
			return v
		}
		return m
	}
	base, _ := structure(t)
	m.code, m.native = c.codeOf(f, typeArguments(base)), c.natives.methods[f]
	m.try, m.free = c.natives.tries[f], c.natives.frees[f]
	if m.code == nil && !m.native.IsValid() {
		c.refuse(at, theMethod.With("name", f.Name()))
	}
	receiver := c.receiver(t, f.Signature().Recv().Type())
	m.receiver = func(v reflect.Value) reflect.Value { return receiver(path(v)) }
	return m
}

// receiver makes a receiver of a type of a value of another: one of them may be a pointer to
// the other.
func (c *compiler) receiver(have, want types.Type) way {
	_, isPointer := have.Underlying().(*types.Pointer)
	_, toPointer := types.Unalias(want).(*types.Pointer)
	switch {
	case toPointer && !isPointer:
		pointerTo := c.pointerTo(have)
		return func(v reflect.Value) reflect.Value {
			if !v.CanAddr() {
				v = variableOf(v)
			}
			return pointerTo(v)
		}
	case isPointer && !toPointer:
		deref := c.deref(have)
		return func(v reflect.Value) reflect.Value { return variableOf(deref(v)) }
	}
	return variableOf
}

// methodOf is a method of a type of the lock's that is known only when it runs.
func (c *compiler) methodOf(t types.Type, name string) *method {
	c.late.Lock()
	defer c.late.Unlock()
	for _, known := range c.lateMethods {
		if known.name == name && known.of == t {
			return known.method
		}
	}
	var m *method
	o, index, _ := types.LookupFieldOrMethod(t, false, c.pkg, name)
	if f, ok := o.(*types.Func); ok {
		m = c.method(f.Pos(), t, f, index)
	}
	c.lateMethods = append(c.lateMethods, lateMethod{t, name, m})
	return m
}

type lateMethod struct {
	of     types.Type
	name   string
	method *method
}

// dynamicCall calls a method of what an interface holds.
func (f *frame) dynamicCall(v reflect.Value, name string, args []reflect.Value) []reflect.Value {
	c := f.thread.program.compiler
	if b, ok := v.Interface().(box); ok {
		m := c.methodOf(b.typ, name)
		return f.invoke(m, m.receiver(reflect.ValueOf(b.value)), args)
	}
	if native := c.natives.methods[c.natives.method(v.Type(), name)]; native.IsValid() {
		return f.native(native, append([]reflect.Value{v}, args...))
	}
	if native, ok := common[name]; ok && v.Type().Implements(native.Type().In(0)) {
		return f.native(native, append([]reflect.Value{v}, args...))
	}
	f.stop(methodOf.With("name", name, "type", v.Type().String()))
	return nil
}

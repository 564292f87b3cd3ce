package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// selector is a field, a method as a value, or a name of a package.
func (c *compiler) selector(e *ast.SelectorExpr) eval {
	selection, ok := c.info.Selections[e]
	if !ok {
		v, ok := c.natives.values[c.info.ObjectOf(e.Sel)]
		if !ok {
			c.refuse(e.Pos(), types.ExprString(e)+" as a value")
		}
		return func(*frame) reflect.Value { return v }
	}
	switch selection.Kind() {
	case types.FieldVal:
		get := c.operand(e.X)
		path, _ := c.path(c.typeOf(e.X), selection.Index())
		return func(f *frame) reflect.Value { return path(get(f)) }
	case types.MethodVal:
		return c.methodValue(e, selection)
	}
	c.refuse(e.Pos(), "a method expression: write a function that calls the method")
	return nil
}

// way leads from a value to a part of it.
type way func(reflect.Value) reflect.Value

// path follows fields, through what is embedded, and tells which type it leads to.
func (c *compiler) path(t types.Type, index []int) (way, types.Type) {
	path := func(v reflect.Value) reflect.Value { return v }
	for _, i := range index {
		before, step, next := path, c.field(t, i), c.fieldType(t, i)
		path, t = func(v reflect.Value) reflect.Value { return step(before(v)) }, next
	}
	return path, t
}

// structure is the struct type of a value, or of what it points to.
func structure(t types.Type) (of types.Type, isPointer bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem(), true
	}
	return t, false
}

func (c *compiler) fieldType(t types.Type, i int) types.Type {
	of, _ := structure(t)
	return of.Underlying().(*types.Struct).Field(i).Type()
}

func (c *compiler) field(t types.Type, i int) way {
	of, isPointer := structure(t)
	name := of.Underlying().(*types.Struct).Field(i).Name()
	switch {
	case c.structOf(of) != nil:
		return func(v reflect.Value) reflect.Value { return present(v.Interface().(*object)).fields[i] }
	case isPointer:
		return func(v reflect.Value) reflect.Value { return pointed(v).FieldByName(name) }
	}
	return func(v reflect.Value) reflect.Value { return v.FieldByName(name) }
}

func present(o *object) *object {
	if o == nil {
		panic(nilPointer)
	}
	return o
}

// pointed is what a pointer of Go's points to.
func pointed(v reflect.Value) reflect.Value {
	if v.IsNil() {
		panic(nilPointer)
	}
	return v.Elem()
}

// method is one that a type has, itself or through what it embeds, with the way to its
// receiver. It is the lock's, a library's, or that of an interface of the lock.
type method struct {
	name     string
	receiver way
	code     *code
	native   reflect.Value
	try      reflect.Value // of a mutex: instead of the method, which would wait
}

// method is that of a selection on values of a type.
func (c *compiler) method(at token.Pos, of types.Type, f *types.Func, index []int) *method {
	path, t := c.path(of, index[:len(index)-1])
	m := &method{name: f.Name(), code: c.codes[f], native: c.natives.methods[f], try: c.natives.tries[f]}
	switch {
	case types.IsInterface(t) && c.reflected(t) == anyType:
		m.code, m.native = nil, reflect.Value{}
	case t == types.Universe.Lookup("error").Type():
		m.native = reflect.ValueOf(error.Error)
	}
	if types.IsInterface(t) {
		m.receiver = func(v reflect.Value) reflect.Value {
			if v = path(v); v.IsNil() {
				panic(nilPointer)
			}
			return v
		}
		return m
	}
	if m.code == nil && !m.native.IsValid() {
		c.refuse(at, "the method "+f.Name())
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
	objects := c.structOf(have) != nil || c.pointee(have) != nil
	switch {
	case objects && toPointer:
		return func(v reflect.Value) reflect.Value { return reflect.ValueOf(v.Interface()) }
	case objects:
		return func(v reflect.Value) reflect.Value { return reflect.ValueOf(v.Interface().(*object).copy()) }
	case toPointer && !isPointer:
		return func(v reflect.Value) reflect.Value {
			if !v.CanAddr() {
				v = variableOf(v)
			}
			return v.Addr()
		}
	case isPointer && !toPointer:
		return func(v reflect.Value) reflect.Value { return variableOf(pointed(v)) }
	}
	return variableOf
}

// methodValue is a method with its receiver, as a function.
func (c *compiler) methodValue(e *ast.SelectorExpr, selection *types.Selection) eval {
	get := c.operand(e.X)
	m := c.method(e.Pos(), c.typeOf(e.X), selection.Obj().(*types.Func), selection.Index())
	t := c.reflected(c.typeOf(e))
	return func(f *frame) reflect.Value {
		recv := m.receiver(get(f))
		return f.thread.program.function(t, func(f *frame, args []reflect.Value) []reflect.Value {
			return f.invoke(m, recv, args)
		})
	}
}

// methodOf is a method of a type of the lock's that is known only when it runs.
func (c *compiler) methodOf(t types.Type, name string) *method {
	c.late.Lock()
	defer c.late.Unlock()
	for _, known := range c.lateMethods {
		if known.name == name && types.Identical(known.of, t) {
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

// unboxed is what is dynamic as a receiver.
func (c *compiler) unboxed(v reflect.Value) reflect.Value {
	b, ok := v.Interface().(box)
	switch {
	case !ok:
		return v
	case c.structOf(b.typ) != nil:
		c.late.Lock()
		defer c.late.Unlock()
		return reflect.ValueOf(c.layout(b.typ).unpack(b.value))
	}
	return reflect.ValueOf(b.value)
}

// dynamicCall calls a method of what an interface holds.
func (f *frame) dynamicCall(v reflect.Value, name string, args []reflect.Value) []reflect.Value {
	c := f.thread.program.compiler
	if own := typeOf(v); own != nil {
		m := c.methodOf(own, name)
		return f.invoke(m, m.receiver(c.unboxed(v)), args)
	}
	if t, ok := c.natives.types[v.Type()]; ok {
		if o, _, _ := types.LookupFieldOrMethod(t, true, nil, name); o != nil {
			if native := c.natives.methods[o.(*types.Func)]; native.IsValid() {
				return f.native(native, append([]reflect.Value{v}, args...))
			}
		}
	}
	if native, ok := common[name]; ok && v.Type().Implements(native.Type().In(0)) {
		return f.native(native, append([]reflect.Value{v}, args...))
	}
	f.stop("the method %s of a %s", name, v.Type())
	return nil
}

package interpreter

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
)

// eval is an expression: its value in a frame.
type eval func(*frame) reflect.Value

// conversion makes a value of one type one of another.
type conversion func(*frame, reflect.Value) reflect.Value

// convert is a value of one type where another is wanted.
func (c *compiler) convert(get eval, at token.Pos, from, to types.Type) eval {
	if !types.IsInterface(to) && c.structOf(to) == nil && !isNil(from) && c.reflected(from) == c.reflected(to) {
		return get
	}
	convert := c.conversion(at, from, to)
	return func(f *frame) reflect.Value { return convert(f, get(f)) }
}

// conversion is how an assignment or a conversion makes a value of another type.
func (c *compiler) conversion(at token.Pos, from, to types.Type) conversion {
	target := c.reflected(to)
	switch {
	case isNil(from):
		return func(*frame, reflect.Value) reflect.Value { return reflect.Zero(target) }
	case types.IsInterface(to) && types.IsInterface(from):
		if c.reflected(from) == target && target != anyType {
			return func(_ *frame, v reflect.Value) reflect.Value { return v }
		}
		return func(f *frame, v reflect.Value) reflect.Value { return f.inInterface(dynamic(v), target) }
	case types.IsInterface(to):
		pack := c.pack(at, from, target)
		return func(f *frame, v reflect.Value) reflect.Value { return f.inInterface(pack(v), target) }
	case c.structOf(to) != nil:
		if c.structOf(from) == nil {
			c.refuse(at, "this conversion")
		}
		l := c.layout(to)
		return func(_ *frame, v reflect.Value) reflect.Value {
			if o := v.Interface().(*object); o.layout != l {
				return reflect.ValueOf(&object{l, o.copy().fields})
			}
			return reflect.ValueOf(v.Interface())
		}
	case c.pointee(to) != nil && (c.pointee(from) == nil || !types.Identical(c.pointee(to), c.pointee(from))):
		c.refuse(at, "a conversion of pointers to structs")
	case c.reflected(from) == target:
		return func(_ *frame, v reflect.Value) reflect.Value { return v }
	}
	return func(_ *frame, v reflect.Value) reflect.Value { return v.Convert(target) }
}

func isNil(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

// pack is how a value of a type that is no interface's is in one.
func (c *compiler) pack(at token.Pos, from types.Type, target reflect.Type) func(reflect.Value) reflect.Value {
	from = types.Unalias(from)
	if c.pointee(from) != nil {
		c.bridgeable(at, from, target)
		return func(v reflect.Value) reflect.Value {
			if v.IsNil() {
				return reflect.ValueOf(box{from, (*object)(nil)})
			}
			return v
		}
	}
	if c.structOf(from) != nil {
		c.bridgeable(at, from, target)
		return func(v reflect.Value) reflect.Value {
			return reflect.ValueOf(box{from, v.Interface().(*object).packed()})
		}
	}
	base := from
	if p, ok := from.(*types.Pointer); ok {
		base = types.Unalias(p.Elem())
	}
	if named, ok := base.(*types.Named); ok && !c.isNative(named) && named.Obj().Pkg() != nil {
		c.bridgeable(at, from, target)
		return func(v reflect.Value) reflect.Value { return reflect.ValueOf(box{from, v.Interface()}) }
	}
	return func(v reflect.Value) reflect.Value { return v }
}

// dynamic is what an interface holds, as the interpreter has it; the zero Value for nil.
func dynamic(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.IsValid() && v.CanInterface() {
		if b, ok := v.Interface().(bridge); ok {
			return reflect.ValueOf(b.inner())
		}
	}
	return v
}

// unbridge is the same as something that can be compared.
func unbridge(v reflect.Value) any {
	if v = dynamic(v); v.IsValid() {
		return v.Interface()
	}
	return nil
}

// inInterface puts what is dynamic into an interface.
func (f *frame) inInterface(v reflect.Value, target reflect.Type) reflect.Value {
	in := reflect.New(target).Elem()
	switch {
	case !v.IsValid():
	case v.Type() == objectType, v.Type() == boxType:
		in.Set(f.thread.program.bridged(f, v, target))
	default:
		in.Set(v)
	}
	return in
}

// typeOf is the type of what is dynamic, if it is the lock's own.
func typeOf(v reflect.Value) types.Type {
	switch x := v.Interface().(type) {
	case *object:
		return types.NewPointer(x.layout.typ)
	case box:
		return x.typ
	}
	return nil
}

// is tells whether what an interface holds has a type, and gives it as a value of that type.
func (c *compiler) is(to types.Type) func(*frame, reflect.Value) (reflect.Value, bool) {
	target := c.reflected(to)
	if types.IsInterface(to) {
		return c.isInterface(to, target)
	}
	l := (*layout)(nil)
	if c.structOf(to) != nil {
		l = c.layout(to)
	}
	return func(_ *frame, v reflect.Value) (reflect.Value, bool) {
		if !v.IsValid() {
			return v, false
		}
		own := typeOf(v)
		if own == nil {
			return v, v.Type() == target && !c.isOwn(to)
		}
		if !types.Identical(own, to) {
			return v, false
		}
		b, boxed := v.Interface().(box)
		switch {
		case !boxed:
			return v, true
		case l != nil:
			return reflect.ValueOf(l.unpack(b.value)), true
		}
		return reflect.ValueOf(b.value), true
	}
}

// isOwn tells whether a type is one that the lock declares, or points to one.
func (c *compiler) isOwn(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && !c.isNative(named)
}

func (c *compiler) isInterface(to types.Type, target reflect.Type) func(*frame, reflect.Value) (reflect.Value, bool) {
	wanted := to.Underlying().(*types.Interface)
	return func(f *frame, v reflect.Value) (reflect.Value, bool) {
		switch {
		case !v.IsValid():
			return v, false
		case typeOf(v) != nil:
			if !types.Implements(typeOf(v), wanted) {
				return v, false
			}
		case target != anyType:
			if !v.Type().Implements(target) {
				return v, false
			}
		case wanted.NumMethods() > 0:
			if !f.implements(v, wanted) {
				return v, false
			}
		}
		return f.inInterface(v, target), true
	}
}

// implements tells whether a library's value has the methods of an interface of the lock.
func (f *frame) implements(v reflect.Value, wanted *types.Interface) bool {
	if known, ok := f.thread.program.natives.types[v.Type()]; ok {
		return types.Implements(known, wanted)
	}
	for m := range wanted.Methods() {
		known, ok := common[m.Name()]
		switch {
		case !m.Exported():
			return false
		case !ok:
			f.stop("here the lock asks whether a %s has the method %s, and nobody knows that here", v.Type(), m.Name())
		case !v.Type().Implements(known.Type().In(0)):
			return false
		}
	}
	return true
}

type (
	unwrapper interface{ Unwrap() error }
	comparer  interface{ Is(target error) bool }
	timeouter interface{ Timeout() bool }
	temporary interface{ Temporary() bool }
)

// common are methods that values of libraries may have whose type is not known here.
var common = map[string]reflect.Value{
	"Error":     reflect.ValueOf(error.Error),
	"String":    reflect.ValueOf(fmt.Stringer.String),
	"Unwrap":    reflect.ValueOf(unwrapper.Unwrap),
	"Is":        reflect.ValueOf(comparer.Is),
	"Timeout":   reflect.ValueOf(timeouter.Timeout),
	"Temporary": reflect.ValueOf(temporary.Temporary),
}

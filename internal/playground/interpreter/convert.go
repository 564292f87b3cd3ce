package interpreter

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"github.com/redis/go-redis/v9"
)

// eval is an expression: its value in a frame.
type eval func(*frame) reflect.Value

// conversion makes a value of one type one of another.
type conversion func(*frame, reflect.Value) reflect.Value

// convert is a value of one type where another is wanted.
func (c *compiler) convert(get eval, at token.Pos, from, to types.Type) eval {
	if !types.IsInterface(to) && !isNil(from) && c.reflected(from) == c.reflected(to) {
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
	case c.reflected(from) == target:
		return func(_ *frame, v reflect.Value) reflect.Value { return v }
	case isFunc(to): // one of them is an any
		return func(_ *frame, v reflect.Value) reflect.Value {
			if v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			if !v.IsValid() || v.IsNil() {
				return reflect.Zero(target)
			}
			return v.Convert(target)
		}
	}
	if array, ok := to.Underlying().(*types.Array); ok {
		return func(_ *frame, v reflect.Value) reflect.Value {
			if v.Kind() == reflect.Slice && v.Len() < int(array.Len()) {
				const says = "cannot convert slice with length %d to array or pointer to array with length %d"
				panic(runtimeError(fmt.Sprintf(says, v.Len(), array.Len())))
			}
			return v.Convert(target)
		}
	}
	return func(_ *frame, v reflect.Value) reflect.Value { return v.Convert(target) }
}

func isNil(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

// pack is how a value of a type that is no interface's is in one.
func (c *compiler) pack(at token.Pos, from types.Type, target reflect.Type) way {
	if !c.isOwn(from) {
		return func(v reflect.Value) reflect.Value { return v }
	}
	c.bridgeable(at, from, target)
	of := c.canonical(from)
	return func(v reflect.Value) reflect.Value { return reflect.ValueOf(box{of, v.Interface()}) }
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
	case v.Type() == boxType:
		in.Set(f.thread.program.bridged(f, v.Interface().(box), target))
	default:
		in.Set(v)
	}
	return in
}

// is tells whether what an interface holds has a type, and gives it as a value of that type.
func (c *compiler) is(to types.Type) func(*frame, reflect.Value) (reflect.Value, bool) {
	target := c.reflected(to)
	if types.IsInterface(to) {
		return c.isInterface(to, target)
	}
	if !c.isOwn(to) {
		return func(_ *frame, v reflect.Value) (reflect.Value, bool) { return v, v.IsValid() && v.Type() == target }
	}
	want := c.canonical(to)
	return func(_ *frame, v reflect.Value) (reflect.Value, bool) {
		if !v.IsValid() || v.Type() != boxType {
			return v, false
		}
		b := v.Interface().(box)
		return reflect.ValueOf(b.value), b.typ == want
	}
}

func (c *compiler) isInterface(to types.Type, target reflect.Type) func(*frame, reflect.Value) (reflect.Value, bool) {
	wanted := to.Underlying().(*types.Interface)
	return func(f *frame, v reflect.Value) (reflect.Value, bool) {
		switch {
		case !v.IsValid():
			return v, false
		case v.Type() == boxType:
			if !types.Implements(v.Interface().(box).typ, wanted) {
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
	natives := f.thread.program.natives
	if known, ok := natives.types[v.Type()]; ok {
		return types.Implements(known, wanted)
	}
	for m := range wanted.Methods() {
		known, ok := common[m.Name()]
		switch is := natives.method(v.Type(), m.Name()); {
		case is != nil:
			if !types.Identical(is.Signature(), m.Signature()) {
				return false
			}
		case !m.Exported(), v.Type().NumMethod() == 0:
			return false
		case !ok && m.Name() != redirected && v.Type().Implements(errorType):
			return false
		case !ok:
			f.stop(asksForType.With("type", v.Type().String(), "name", m.Name()))
		case !v.Type().Implements(known.Type().In(0)):
			return false
		}
	}
	return true
}

type (
	unwrapper interface{ Unwrap() error }
	joined    interface{ Unwrap() []error }
	comparer  interface{ Is(target error) bool }
	timeouter interface{ Timeout() bool }
	temporary interface{ Temporary() bool }
)

// redirected is the one method that an error of a library may have besides the common ones.
const redirected = "Addr"

// common are methods that values of libraries may have whose type is not known here.
var common = map[string]reflect.Value{
	"Error":      reflect.ValueOf(error.Error),
	"RedisError": reflect.ValueOf(redis.Error.RedisError),
	"String":     reflect.ValueOf(fmt.Stringer.String),
	"Unwrap":     reflect.ValueOf(unwrapper.Unwrap),
	"Is":         reflect.ValueOf(comparer.Is),
	"Timeout":    reflect.ValueOf(timeouter.Timeout),
	"Temporary":  reflect.ValueOf(temporary.Temporary),
}

// wrongType is what a compiled lock panics with where it asserts a type that what an
// interface holds has not.
func (c *compiler) wrongType(from, to types.Type, v reflect.Value) conversionError {
	name := func(t types.Type) string {
		if i, ok := types.Unalias(t).(*types.Interface); ok && i.Empty() {
			return "interface {}"
		}
		return types.TypeString(t, (*types.Package).Name)
	}
	if !v.IsValid() {
		if types.IsInterface(to) {
			return conversionError("interface is nil, not " + name(to))
		}
		return conversionError("" + name(from) + " is nil, not " + name(to))
	}
	is := v.Type().String()
	own, isOwn := v.Interface().(box)
	if isOwn {
		is = name(own.typ)
	}
	wanted, toInterface := to.Underlying().(*types.Interface)
	if !toInterface {
		return conversionError("" + name(from) + " is " + is + ", not " + name(to))
	}
	missing := wanted.Method(0)
	if isOwn {
		missing, _ = types.MissingMethod(own.typ, wanted, true)
	}
	return conversionError("" + is + " is not " + name(to) + ": missing method " + missing.Name())
}

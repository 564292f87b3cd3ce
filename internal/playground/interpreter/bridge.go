package interpreter

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// A library calls the methods of what it is given, so a value of the lock's own type is, in
// an interface of a library, a bridge: a struct of ours that has these methods.
type bridge interface{ inner() any }

// own is a value of a type of the lock.
type own struct {
	program *program
	box
}

func (o own) inner() any { return o.box }

// call calls one of its methods.
func (o own) call(name string, args ...reflect.Value) (out []reflect.Value) {
	o.program.within(func(f *frame) { out = f.dynamicCall(reflect.ValueOf(o.box), name, args) }, true)
	return out
}

func (o own) has(name string) bool {
	return o.program.compiler.methodOf(o.typ, name) != nil
}

// is tells whether its type has an interface of a library.
func (o own) is(t reflect.Type) bool {
	return types.Implements(o.typ, o.program.natives.types[t].Underlying().(*types.Interface))
}

// MarshalBinary is what go-redis sends of it. Without such a method of its own it says what go-redis
// says, which would name the bridge.
func (o own) MarshalBinary() ([]byte, error) {
	if !o.has("MarshalBinary") {
		return nil, fmt.Errorf("redis: can't marshal %s (implement encoding.BinaryMarshaler)", o.typeName())
	}
	out := o.call("MarshalBinary")
	return out[0].Bytes(), errorOf(out[1])
}

// UnmarshalBinary is how go-redis reads a reply into it.
func (o own) UnmarshalBinary(reply []byte) error {
	if !o.has("UnmarshalBinary") {
		return fmt.Errorf("redis: can't unmarshal %s (consider implementing BinaryUnmarshaler)", o.typeName())
	}
	return errorOf(o.call("UnmarshalBinary", reflect.ValueOf(reply))[0])
}

// typeName is what %T prints of it.
func (o own) typeName() string { return types.TypeString(o.typ, (*types.Package).Name) }

// ownValue is one without the methods that fmt looks for.
type ownValue struct{ own }

// Format prints it.
func (v ownValue) Format(s fmt.State, verb rune) { v.format(s, verb, nil) }

type ownError struct{ own }

// Format prints it.
func (e ownError) Format(s fmt.State, verb rune) { e.format(s, verb, e.Error) }

// error is it as an error.
func (o own) error() error {
	if m := o.program.compiler.methodOf(o.typ, "Unwrap"); m != nil && m.many {
		return ownErrors{ownError{o}}
	}
	return ownError{o}
}

func (e ownError) Error() string { return e.call("Error")[0].String() }

func (e ownError) Unwrap() error {
	if !e.has("Unwrap") {
		return nil
	}
	err, _ := e.call("Unwrap")[0].Interface().(error)
	return err
}

func (e ownError) Is(target error) bool {
	return e.has("Is") && e.call("Is", reflect.ValueOf(&target).Elem())[0].Bool()
}

// As is what a lock's own error finds in itself.
func (e ownError) As(target any) bool {
	return e.has("As") && e.call("As", reflect.ValueOf(&target).Elem())[0].Bool()
}

// ownErrors is an error of the lock that wraps many.
type ownErrors struct{ ownError }

func (e ownErrors) Unwrap() []error { return e.call("Unwrap")[0].Interface().([]error) }

type ownStringer struct{ own }

// Format prints it.
func (s ownStringer) Format(to fmt.State, verb rune) { s.format(to, verb, s.String) }

func (s ownStringer) String() string { return s.call("String")[0].String() }

type ownContext struct{ own }

func (c ownContext) Deadline() (time.Time, bool) {
	out := c.call("Deadline")
	return out[0].Interface().(time.Time), out[1].Bool()
}

func (c ownContext) Done() <-chan struct{} {
	done, _ := c.call("Done")[0].Interface().(<-chan struct{})
	return done
}

func (c ownContext) Err() error {
	err, _ := c.call("Err")[0].Interface().(error)
	return err
}

func (c ownContext) Value(key any) any {
	return unbridge(c.call("Value", reflect.ValueOf(&key).Elem())[0])
}

// ownCommand is a command of the lock's, which go-redis reads the reply into.
type ownCommand struct {
	own
	redis.Cmder
}

func (c ownCommand) NoRetry() bool { return c.has("NoRetry") && c.call("NoRetry")[0].Bool() }

// ownClient is a client of the lock's.
type ownClient struct {
	own
	redis.UniversalClient
}

// ask calls a method that the lock has, or has from what it embeds.
func ask[R any](c ownClient, name string, ctx context.Context, rest ...any) R {
	args := []reflect.Value{reflect.ValueOf(&ctx).Elem()}
	for _, arg := range rest {
		args = append(args, reflect.ValueOf(arg))
	}
	result, _ := c.call(name, args...)[0].Interface().(R)
	return result
}

func (c ownClient) Do(ctx context.Context, args ...any) *redis.Cmd {
	return ask[*redis.Cmd](c, "Do", ctx, args)
}

func (c ownClient) Process(ctx context.Context, cmd redis.Cmder) error {
	return ask[error](c, "Process", ctx, cmd)
}

func (c ownClient) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return ask[*redis.Cmd](c, "Eval", ctx, script, keys, args)
}

func (c ownClient) EvalSha(ctx context.Context, hash string, keys []string, args ...any) *redis.Cmd {
	return ask[*redis.Cmd](c, "EvalSha", ctx, hash, keys, args)
}

func (c ownClient) EvalRO(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return ask[*redis.Cmd](c, "EvalRO", ctx, script, keys, args)
}

func (c ownClient) EvalShaRO(ctx context.Context, hash string, keys []string, args ...any) *redis.Cmd {
	return ask[*redis.Cmd](c, "EvalShaRO", ctx, hash, keys, args)
}

var stringerType = reflect.TypeFor[fmt.Stringer]()

// bridges are the interfaces of libraries that a type of the lock may have, with the methods
// that it may have in place of those of what it embeds; none where it embeds nothing.
var bridges = map[reflect.Type][]string{
	errorType:                                nil,
	stringerType:                             nil,
	reflect.TypeFor[context.Context]():       nil,
	reflect.TypeFor[redis.Cmder]():           {"NoRetry"},
	reflect.TypeFor[redis.UniversalClient](): {"Do", "Process", "Eval", "EvalSha", "EvalRO", "EvalShaRO"},
	reflect.TypeFor[redis.Scripter]():        {"Do", "Process", "Eval", "EvalSha", "EvalRO", "EvalShaRO"},
}

// bridgeable refuses an interface that there is no bridge for, and a type that the bridge
// would not show whole.
func (c *compiler) bridgeable(at token.Pos, from types.Type, target reflect.Type) {
	if target == anyType {
		return
	}
	allowed, ok := bridges[target]
	if !ok {
		c.refuse(at, ownType.With("type", target.String()))
	}
	of, _ := structure(from)
	if len(allowed) == 0 {
		return
	}
	if c.base(of) < 0 {
		c.refuse(at, notEmbedding.With("type", target.String()))
	}
	whole := c.natives.types[reflect.TypeFor[redis.UniversalClient]()]
	for m := range types.NewMethodSet(from).Methods() {
		inherited, _, _ := types.LookupFieldOrMethod(whole, true, c.pkg, m.Obj().Name())
		if c.codes[m.Obj().(*types.Func)] != nil && inherited != nil && !slices.Contains(allowed, m.Obj().Name()) {
			c.refuse(m.Obj().Pos(), inPlace.With("method", m.Obj().Name()))
		}
	}
}

// base is the field with what a struct embeds from a library; -1 without one.
func (c *compiler) base(t types.Type) int {
	s := c.structOf(t)
	for i := 0; s != nil && i < s.NumFields(); i++ {
		if f := s.Field(i); f.Embedded() && !c.isOwn(f.Type()) {
			return i
		}
	}
	return -1
}

// bridged is a value of the lock's own type in an interface of a library.
func (p *program) bridged(f *frame, v box, target reflect.Type) reflect.Value {
	o := own{p, v}
	embedded := func() any {
		of, isPointer := structure(v.typ)
		value := reflect.ValueOf(v.value)
		if isPointer {
			value = p.pointed(of, value.UnsafePointer())
		}
		return value.Field(p.compiler.base(of)).Interface()
	}
	var b any
	switch target {
	case anyType: // fmt looks for these
		switch {
		case o.is(errorType):
			b = o.error()
		case o.is(stringerType):
			b = ownStringer{o}
		default:
			b = ownValue{o}
		}
	case errorType:
		b = o.error()
	case stringerType:
		b = ownStringer{o}
	case reflect.TypeFor[context.Context]():
		b = ownContext{o}
	case reflect.TypeFor[redis.Cmder]():
		b = ownCommand{o, embedded().(redis.Cmder)}
	case reflect.TypeFor[redis.UniversalClient](), reflect.TypeFor[redis.Scripter]():
		b = ownClient{o, embedded().(redis.UniversalClient)}
	default:
		f.stop(ownType.With("type", target.String()))
	}
	return reflect.ValueOf(b)
}

// errorsAs is errors.As for a target of that type, a pointer to what may be the lock's own.
func (c *compiler) errorsAs(target types.Type) eval {
	of, _ := structure(target)
	is, deref := c.is(of), c.deref(target)
	t := reflect.FuncOf([]reflect.Type{errorType, anyType}, []reflect.Type{reflect.TypeFor[bool]()}, false)
	return func(f *frame) reflect.Value {
		return f.thread.program.function(t, func(f *frame, args []reflect.Value) []reflect.Value {
			err, _ := args[0].Interface().(error)
			to := dynamic(args[1])
			if b, ok := to.Interface().(box); ok {
				to = reflect.ValueOf(b.value)
			}
			return []reflect.Value{reflect.ValueOf(f.as(err, args[1].Interface(), deref(to), is))}
		})
	}
}

// as looks for an error of a type in a chain, and puts it where the target points to.
func (f *frame) as(err error, target any, to reflect.Value, is func(*frame, reflect.Value) (reflect.Value, bool)) bool {
	for err != nil {
		if v, ok := is(f, dynamic(reflect.ValueOf(err))); ok {
			to.Set(v)
			return true
		}
		if own, ok := err.(interface{ As(any) bool }); ok && own.As(target) {
			return true
		}
		switch wrapper := err.(type) {
		case unwrapper:
			err = wrapper.Unwrap()
		case joined:
			for _, inner := range wrapper.Unwrap() {
				if f.as(inner, target, to, is) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

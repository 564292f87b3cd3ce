package interpreter

import (
	"errors"
	"go/token"
	"go/types"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// Lock is a lock that is interpreted.
type Lock struct {
	program *program
	create  *code
	mutex   types.Type   // what NewMutex returns
	options reflect.Type // of its options; nil without
	fixed   *code        // WithoutWatchdog
	limited *code        // WithMaxHold
	adapt   func(func(redis.UniversalClient, string, time.Duration) (own, error)) world.Constructor
}

// Trouble is why the lock was stopped, or what panicked in it: nil if all was well. What a
// run says after that says nothing of the lock.
func (l *Lock) Trouble() *Problem { return l.program.trouble.Load() }

// Subject is the lock as the catalogue, the game and the search take it. has is what it is
// said to have.
func (l *Lock) Subject(name string, has ...failures.Feature) failures.Subject {
	s := failures.Subject{Name: name, New: l.constructor(), Has: has, Line: l.program.Line}
	s.Variants = map[failures.Variant]world.Constructor{}
	if l.fixed != nil {
		s.Variants[failures.FixedLease] = l.constructor(l.fixed)
	}
	if l.limited != nil {
		s.Variants[failures.Limited] = l.constructor(l.limited)
	}
	return s
}

// constructor makes the lock, with the options that these functions return. One that takes
// a time gets three leases.
func (l *Lock) constructor(options ...*code) world.Constructor {
	return l.adapt(func(rdb redis.UniversalClient, name string, lease time.Duration) (made own, err error) {
		l.program.begin()
		l.program.within(func(f *frame) { made, err = l.make(f, options, rdb, name, lease) }, false)
		if trouble := l.Trouble(); trouble != nil && (err != nil || made.value == nil) {
			err = *trouble
		}
		return made, err
	})
}

func (l *Lock) make(f *frame, options []*code, rdb redis.UniversalClient, name string, lease time.Duration) (own, error) {
	args := []reflect.Value{reflect.ValueOf(&rdb).Elem(), reflect.ValueOf(name), reflect.ValueOf(lease)}
	if l.options != nil {
		list := reflect.MakeSlice(l.options, 0, len(options))
		for _, option := range options {
			args := []reflect.Value{reflect.ValueOf(3 * lease)}[:len(option.params)]
			list = reflect.Append(list, option.run(f, args)[0])
		}
		args = append(args, list)
	}
	out := l.create.run(f, args)
	made, isLock := l.program.ownOf(l.mutex, out[0])
	if err := errorOf(out[1]); err != nil {
		return made, err
	}
	if !isLock {
		return made, errors.New("NewMutex returns neither a lock nor an error")
	}
	return made, nil
}

// newMutex is what a lock has to have.
const newMutex = "func NewMutex(rdb redis.UniversalClient, name string, lease time.Duration) (*Mutex, error)"

// lock finds what makes the lock, and what the lock can do.
func (c *compiler) lock() (*Lock, *Problem) {
	f, _ := c.pkg.Scope().Lookup("NewMutex").(*types.Func)
	if f == nil {
		wrong := problemAt(token.Position{}, noMutex.With())
		return nil, &wrong
	}
	sig := f.Signature()
	l := &Lock{program: c.program, create: c.codes[f]}
	params := []reflect.Type{reflect.TypeFor[redis.UniversalClient](), reflect.TypeFor[string](), reflect.TypeFor[time.Duration]()}
	if sig.Variadic() {
		l.options = c.reflected(sig.Params().At(sig.Params().Len() - 1).Type())
		params = append(params, l.options)
	}
	t := c.maybeOwn(sig)
	if t == nil || c.function(sig) != reflect.FuncOf(params, []reflect.Type{c.reflected(t), errorType}, sig.Variadic()) {
		wrong := c.program.problem(f.Pos(), notMutex.With())
		return nil, &wrong
	}
	l.mutex = c.canonical(t)
	if sig.Variadic() {
		l.fixed = c.option("WithoutWatchdog", l.options)
		l.limited = c.option("WithMaxHold", l.options, reflect.TypeFor[time.Duration]())
	}
	if l.adapt = c.shape(f.Pos(), t); l.adapt == nil {
		wrong := c.program.problem(f.Pos(), noLocker.With())
		return nil, &wrong
	}
	return l, nil
}

// option is a function that returns an option; nil without.
func (c *compiler) option(name string, options reflect.Type, params ...reflect.Type) *code {
	f, ok := c.pkg.Scope().Lookup(name).(*types.Func)
	if !ok || c.function(f.Signature()) != reflect.FuncOf(params, []reflect.Type{options.Elem()}, false) {
		return nil
	}
	return c.codes[f]
}

// maybeOwn is the first result of a function if it is of a type of the lock's, with one more
// beside it; else nil.
func (c *compiler) maybeOwn(sig *types.Signature) types.Type {
	if sig.Results().Len() != 2 || !c.isOwn(sig.Results().At(0).Type()) {
		return nil
	}
	return sig.Results().At(0).Type()
}

// ownOf is a value of a type of the lock's, which may be an interface; ok tells whether it
// is there.
func (p *program) ownOf(t types.Type, v reflect.Value) (o own, ok bool) {
	switch v.Kind() {
	case reflect.Interface:
		b, ok := unbridge(v).(box)
		return own{p, b}, ok
	case reflect.UnsafePointer, reflect.Pointer, reflect.Map, reflect.Func:
		ok = !v.IsNil()
	default:
		ok = true
	}
	return own{p, box{t, v.Interface()}}, ok
}

// errorNamed is an error that the lock declares; nil without.
func (c *compiler) errorNamed(name string) (err error) {
	o := c.pkg.Scope().Lookup(name)
	v, ok := c.globals[o]
	if ok && types.Implements(o.Type(), types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
		convert := c.conversion(o.Pos(), o.Type(), types.Universe.Lookup("error").Type())
		c.program.within(func(f *frame) { err = errorOf(convert(f, v)) }, false)
	}
	return err
}

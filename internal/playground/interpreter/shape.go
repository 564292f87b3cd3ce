package interpreter

import (
	"context"
	"go/token"
	"go/types"
	"io"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
)

// maker makes one owner's lock.
type maker = func(redis.UniversalClient, string, time.Duration) (own, error)

// shape tells how a lock of that type becomes a [world.Locker]; nil if it does not. The lock
// is made at that place.
func (c *compiler) shape(at token.Pos, t types.Type) func(maker) world.Constructor {
	has := func(f any, name string) bool { return c.hasMethod(t, name, reflect.TypeOf(f)) }
	asked := [2]bool{has(world.Counting.HoldCount, "HoldCount"), has(world.Forcing.ForceUnlock, "ForceUnlock")}
	if has(world.Locker.Lock, "Lock") && has(world.Locker.TryLock, "TryLock") && has(world.Locker.Unlock, "Unlock") {
		as := plains[more{
			token: has(world.Fenced.Token, "Token"), lost: has(world.Noticing.Lost, "Lost"), count: asked[0], force: asked[1],
			close: has(io.Closer.Close, "Close"),
		}]
		if as == nil {
			c.refuse(at, theseMethods.With())
		}
		return func(create maker) world.Constructor { return plain(create, as) }
	}
	hold := c.holdOf(t, "Lock")
	if hold == nil || c.holdOf(t, "TryLock") == nil || !types.Identical(hold, c.holdOf(t, "TryLock")) {
		return nil
	}
	release := ""
	for _, name := range []string{"Release", "Unlock"} {
		if c.hasMethod(hold, name, reflect.TypeFor[func(any) error]()) || c.hasMethod(hold, name, reflect.TypeFor[func(any, context.Context) error]()) {
			release = name
		}
	}
	if release == "" {
		return nil
	}
	h := holding{holds: c.canonical(hold), release: release, bare: c.hasMethod(hold, release, reflect.TypeFor[func(any) error]()),
		taken: c.errorNamed("ErrLocked"), lost: c.errorNamed("ErrLost")}
	inside := c.hasMethod(hold, "Context", reflect.TypeFor[func(any) context.Context]())
	token := c.hasMethod(hold, "Token", reflect.TypeFor[func(any) int64]())
	return func(create maker) world.Constructor {
		switch {
		case inside && token:
			return holds(create, h, asked, func(b bareHold) *fencedHold { return &fencedHold{contextHold{b}} })
		case inside:
			return holds(create, h, asked, func(b bareHold) *contextHold { return &contextHold{b} })
		}
		return holds(create, h, asked, func(b bareHold) *bareHold { return &b })
	}
}

// hasMethod tells whether a type has a method like that one, whose receiver comes first.
func (c *compiler) hasMethod(t types.Type, name string, like reflect.Type) bool {
	o, _, _ := types.LookupFieldOrMethod(t, false, c.pkg, name)
	f, ok := o.(*types.Func)
	if !ok {
		return false
	}
	is := c.function(f.Signature())
	if is.NumIn() != like.NumIn()-1 || is.NumOut() != like.NumOut() || is.IsVariadic() {
		return false
	}
	for i := range is.NumIn() {
		if is.In(i) != like.In(i+1) {
			return false
		}
	}
	for i := range is.NumOut() {
		if is.Out(i) != like.Out(i) {
			return false
		}
	}
	return true
}

// holdOf is what a method returns that returns a hold; nil if it returns none.
func (c *compiler) holdOf(t types.Type, name string) types.Type {
	o, _, _ := types.LookupFieldOrMethod(t, false, c.pkg, name)
	f, ok := o.(*types.Func)
	if !ok {
		return nil
	}
	hold, params := c.maybeOwn(f.Signature()), []reflect.Type{reflect.TypeFor[context.Context]()}
	if hold == nil || c.function(f.Signature()) != reflect.FuncOf(params, []reflect.Type{c.reflected(hold), errorType}, false) {
		return nil
	}
	return hold
}

// ask calls a method with a context.
func (o own) ask(name string, ctx context.Context) []reflect.Value {
	return o.call(name, reflect.ValueOf(&ctx).Elem())
}

func errorOf(v reflect.Value) error {
	err, _ := v.Interface().(error)
	return err
}

type plainLock struct{ own }

func (l plainLock) Lock(ctx context.Context) error { return errorOf(l.ask("Lock", ctx)[0]) }

func (l plainLock) TryLock(ctx context.Context) (bool, error) {
	out := l.ask("TryLock", ctx)
	return out[0].Bool(), errorOf(out[1])
}

func (l plainLock) Unlock(ctx context.Context) error { return errorOf(l.ask("Unlock", ctx)[0]) }

type fenced struct{ own }

func (l fenced) Token(ctx context.Context) int64 { return l.ask("Token", ctx)[0].Int() }

type noticing struct{ own }

func (l noticing) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	out := l.ask("Lost", ctx)
	return out[0].Interface().(<-chan struct{}), out[1].Interface().(func() bool)
}

type counting struct{ own }

func (l counting) HoldCount(ctx context.Context) (int, error) {
	out := l.ask("HoldCount", ctx)
	return int(out[0].Int()), errorOf(out[1])
}

type forcing struct{ own }

func (l forcing) ForceUnlock(ctx context.Context) (bool, error) {
	out := l.ask("ForceUnlock", ctx)
	return out[0].Bool(), errorOf(out[1])
}

type closing struct{ own }

func (l closing) Close() error { return errorOf(l.call("Close")[0]) }

// more is what a lock has besides Lock, TryLock and Unlock.
type more struct{ token, lost, count, force, close bool }

// plains make a Locker of a lock with exactly these. The world looks at the methods of a
// Locker to know what the lock has, so each set of them is a type of its own.
var plains = map[more]func(own) world.Locker{
	{}: func(o own) world.Locker { return plainLock{o} },
	{close: true}: func(o own) world.Locker {
		return struct {
			plainLock
			closing
		}{plainLock{o}, closing{o}}
	},
	{token: true}: func(o own) world.Locker {
		return struct {
			plainLock
			fenced
		}{plainLock{o}, fenced{o}}
	},
	{lost: true}: func(o own) world.Locker {
		return struct {
			plainLock
			noticing
		}{plainLock{o}, noticing{o}}
	},
	{token: true, lost: true}: func(o own) world.Locker {
		return struct {
			plainLock
			fenced
			noticing
		}{plainLock{o}, fenced{o}, noticing{o}}
	},
	{count: true}: func(o own) world.Locker {
		return struct {
			plainLock
			counting
		}{plainLock{o}, counting{o}}
	},
	{count: true, force: true, close: true}: func(o own) world.Locker {
		return struct {
			plainLock
			counting
			forcing
			closing
		}{plainLock{o}, counting{o}, forcing{o}, closing{o}}
	},
	{token: true, lost: true, count: true, force: true}: func(o own) world.Locker {
		return struct {
			plainLock
			fenced
			noticing
			counting
			forcing
		}{plainLock{o}, fenced{o}, noticing{o}, counting{o}, forcing{o}}
	},
}

// plain is a lock with Lock, TryLock and Unlock.
func plain(create maker, as func(own) world.Locker) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		o, err := create(rdb, name, lease)
		if err != nil {
			return nil, err
		}
		return as(o), nil
	}
}

// holding is what is known of a lock whose Lock and TryLock return holds.
type holding struct {
	holds       types.Type
	release     string
	bare        bool // it gets no context
	taken, lost error
}

// bareHold is a hold of it.
type bareHold struct {
	own
	holding
}

func (h *bareHold) Unlock(ctx context.Context) error {
	if h.bare {
		return errorOf(h.call(h.release)[0])
	}
	return errorOf(h.ask(h.release, ctx)[0])
}

type contextHold struct{ bareHold }

func (h *contextHold) Context() context.Context {
	ctx, _ := h.call("Context")[0].Interface().(context.Context)
	return ctx
}

type fencedHold struct{ contextHold }

func (h *fencedHold) Token() int64 { return h.call("Token")[0].Int() }

// holder is a lock whose holds are an H.
type holder[H any] struct {
	own
	holding
	hold func(bareHold) *H
}

func (l holder[H]) Lock(ctx context.Context) (*H, error)    { return l.take("Lock", ctx) }
func (l holder[H]) TryLock(ctx context.Context) (*H, error) { return l.take("TryLock", ctx) }

func (l holder[H]) take(name string, ctx context.Context) (*H, error) {
	out := l.ask(name, ctx)
	hold, ok := l.program.ownOf(l.holds, out[0])
	if !ok {
		return nil, errorOf(out[1])
	}
	return l.hold(bareHold{hold, l.holding}), errorOf(out[1])
}

type countingHolder[H any] struct {
	holder[H]
	world.Counting
}

type forcingHolder[H any] struct {
	countingHolder[H]
	world.Forcing
}

// holds is a lock that returns holds, with what else it has.
func holds[H any](create maker, h holding, asked [2]bool, hold func(bareHold) *H) world.Constructor {
	made := func(rdb redis.UniversalClient, name string, lease time.Duration) (forcingHolder[H], error) {
		o, err := create(rdb, name, lease)
		return forcingHolder[H]{countingHolder[H]{holder[H]{o, h, hold}, counting{o}}, forcing{o}}, err
	}
	switch asked {
	case [2]bool{true, true}:
		return adapt.Holding(made, h.taken, h.lost)
	case [2]bool{true, false}:
		return adapt.Holding(func(rdb redis.UniversalClient, name string, lease time.Duration) (countingHolder[H], error) {
			l, err := made(rdb, name, lease)
			return l.countingHolder, err
		}, h.taken, h.lost)
	}
	return adapt.Holding(func(rdb redis.UniversalClient, name string, lease time.Duration) (holder[H], error) {
		l, err := made(rdb, name, lease)
		return l.holder, err
	}, h.taken, h.lost)
}

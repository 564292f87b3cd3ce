package adapters

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"lockkata/failures_test/world"
)

// ErrNotCalledBack is what a call ends with whose lock does not call its caller back.
var ErrNotCalledBack = errors.New("adapters: the lock comes back without an error, and has not called its caller back")

// Callback makes a Locker of a lock that calls its caller back while it holds:
//
//	lock := NewLock(rdb, name, lease)
//	return adapters.Callback(lock.Do, lock.TryDo, ErrTaken), nil
//
// do waits for the lock and try makes one attempt; both run work while they hold it,
// and then free it. taken is what try returns when somebody else holds the lock. The
// context that work gets tells of a loss, by its end.
//
// A client is inside the callback from its Lock to its Unlock, on a goroutine of its
// own. The context of that goroutine ends when that of the call under way does: of the
// Lock until work begins, of the Unlock after that.
func Callback(do, try func(ctx context.Context, work func(context.Context) error) error, taken error) world.Locker {
	c := &callback{all: make(chan struct{})}
	c.Holds = &Holds[*visit]{
		Acquire: c.enter(do), Try: c.enter(try), Taken: taken,
		Release: (*visit).end,
		Loss:    func(v *visit) (<-chan struct{}, func() bool) { return v.work.Done(), v.isLost },
	}
	return c
}

type callback struct {
	*Holds[*visit]
	all chan struct{} // closed when everybody has to come out
}

// visit is one time inside the callback.
type visit struct {
	work      context.Context // what the lock gave to the callback
	run       context.Context // of the whole, which stop ends
	stop      context.CancelFunc
	goroutine uint64 // that runs the whole
	leave     chan struct{}
	leaving   atomic.Bool
	over      chan struct{}
	err       error // of the whole, once it is over
	panics    any   // what it ended in instead
}

// enter makes an acquire of a function that runs a callback.
func (c *callback) enter(lock func(context.Context, func(context.Context) error) error) func(context.Context) (*visit, error) {
	return func(ctx context.Context) (*visit, error) {
		v := &visit{leave: make(chan struct{}), over: make(chan struct{})}
		inside := make(chan struct{})
		v.run, v.stop = context.WithCancel(entering{context.WithoutCancel(ctx), ctx, inside})
		late := context.AfterFunc(ctx, v.stop)
		go func() {
			v.goroutine = world.GoroutineID()
			defer close(v.over)
			defer v.stop()
			defer func() { v.panics = recover() }() // the call that waits for it ends in it
			v.err = lock(v.run, func(work context.Context) error {
				late()
				v.work = work
				close(inside)
				select {
				case <-v.leave:
				case <-c.all:
				}
				return nil
			})
		}()
		select {
		case <-inside:
			return v, nil
		case <-v.over:
			if err := v.result(); err != nil {
				return nil, err
			}
			return nil, ErrNotCalledBack
		}
	}
}

// entering is a context that has the deadline of another one until work begins.
type entering struct {
	context.Context
	lock   context.Context
	inside chan struct{}
}

// Deadline is when the lock has to be there. The work has none.
func (e entering) Deadline() (time.Time, bool) {
	select {
	case <-e.inside:
		return time.Time{}, false
	default:
		return e.lock.Deadline()
	}
}

// result is what became of the whole, once it is over.
func (v *visit) result() error {
	if v.panics != nil {
		panic(v.panics)
	}
	return v.err
}

// end lets the callback return, and waits for what the lock says then. Nobody
// comes out twice.
func (v *visit) end(ctx context.Context) error {
	if !v.leaving.CompareAndSwap(false, true) {
		return ErrNoHold
	}
	defer context.AfterFunc(ctx, v.stop)()
	if ctx.Err() != nil { // now, not at some time while it is being released
		v.stop()
	}
	world.Delegate(ctx, v.goroutine)
	close(v.leave)
	<-v.over
	return v.result()
}

// isLost tells whether the end of work's context tells of a loss, and not of the end of
// the context that the caller gave.
func (v *visit) isLost() bool { return !v.leaving.Load() && v.run.Err() == nil }

// Close lets everybody out.
func (c *callback) Close() error {
	close(c.all)
	return nil
}

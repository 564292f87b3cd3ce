package adapters

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"lockkata/failures_test/world"
)

// ErrNotCalledBack is returned if the lock returned without an error and did not call the callback.
var ErrNotCalledBack = errors.New("adapters: the lock returned no error and did not call the callback")

// Callback returns a Locker for a lock with a callback API:
//
//	lock := NewLock(rdb, name, lease)
//	return adapters.Callback(lock.Do, lock.TryDo, ErrTaken), nil
//
// do waits for the lock and try makes one attempt. Both run work while they hold the lock, and then
// free it. try returns taken if another client holds the lock. The context that work gets ends when
// the lock is lost.
//
// The callback runs in a new goroutine from the client's Lock to its Unlock. The context of do ends
// with that of the Lock until work begins, and with that of the Unlock after that.
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
	all chan struct{} // closed by Close
}

// visit is one execution of the callback.
type visit struct {
	work      context.Context // the context that the lock passed to the callback
	run       context.Context // the context of do, which stop ends
	stop      context.CancelFunc
	goroutine uint64 // that runs do
	leave     chan struct{}
	leaving   atomic.Bool
	over      chan struct{}
	err       error // that do returned
	panics    any   // the value of its panic
}

// enter returns an acquire function for do or try.
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
			defer func() { v.panics = recover() }() // result panics with it in the caller's goroutine
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

// entering is a context that has the deadline of lock until work begins.
type entering struct {
	context.Context
	lock   context.Context
	inside chan struct{}
}

// Deadline returns the deadline of the acquire. The work has none.
func (e entering) Deadline() (time.Time, bool) {
	select {
	case <-e.inside:
		return time.Time{}, false
	default:
		return e.lock.Deadline()
	}
}

// result returns the result of do, or panics as it did.
func (v *visit) result() error {
	if v.panics != nil {
		panic(v.panics)
	}
	return v.err
}

// end lets the callback return, and returns the result of do. A second call returns ErrNoHold.
func (v *visit) end(ctx context.Context) error {
	if !v.leaving.CompareAndSwap(false, true) {
		return ErrNoHold
	}
	defer context.AfterFunc(ctx, v.stop)()
	if ctx.Err() != nil { // AfterFunc would end it at a random moment of the release
		v.stop()
	}
	world.Delegate(ctx, v.goroutine)
	close(v.leave)
	<-v.over
	return v.result()
}

// isLost reports whether the context of work ended because the lock was lost, not because the
// caller's context ended.
func (v *visit) isLost() bool { return !v.leaving.Load() && v.run.Err() == nil }

// Close lets all callbacks return.
func (c *callback) Close() error {
	close(c.all)
	return nil
}

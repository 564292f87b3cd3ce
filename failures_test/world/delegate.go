package world

import (
	"context"
	"sync/atomic"
)

// Delegate is a goroutine on which a lock does the work of calls that are made on
// other goroutines: what it sends, the call sends for which it works. A lock that
// calls its caller back needs one, since its acquire and its release are one function,
// and a client's Lock and Unlock are two calls.
type Delegate struct {
	process *process
	id      uint64
}

type callKey struct{}

// callOf is the call whose context that is, or one made from it; nil outside a world.
func callOf(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// delegateEntry is where the goroutine of every delegate begins.
var delegateEntry atomic.Uintptr

// Go starts a delegate that works for the call with this context.
func Go(ctx context.Context, work func()) *Delegate {
	call := callOf(ctx)
	if call == nil {
		go work()
		return nil
	}
	d := &Delegate{process: call.Client.process}
	ready := make(chan struct{})
	go d.run(ctx, work, ready)
	<-ready
	return d
}

func (d *Delegate) run(ctx context.Context, work func(), ready chan<- struct{}) {
	noteEntry(&delegateEntry)
	deepen()
	d.id = GoroutineID()
	d.For(ctx)
	close(ready)
	defer d.rest()
	work()
}

// For says that the delegate works for the call with this context from now on.
func (d *Delegate) For(ctx context.Context) {
	call := callOf(ctx)
	if d == nil || call == nil {
		return
	}
	w := call.Client.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if d.process.delegates == nil {
		d.process.delegates = map[uint64]*Call{}
	}
	d.process.delegates[d.id] = call
}

func (d *Delegate) rest() {
	w := d.process.world
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(d.process.delegates, d.id)
}

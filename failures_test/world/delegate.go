package world

import (
	"context"
)

type callKey struct{}

// callOf is the call whose context that is, or one made from it; nil outside a world.
func callOf(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// Delegate has the goroutine that asks for it work for the call with this context: what it
// sends, the call sends. A lock that calls its caller back needs that, since its acquire and
// its release are one function, and a client's Lock and Unlock are two calls. The function
// that it returns gives the goroutine to the next call.
func Delegate(ctx context.Context) (to func(context.Context)) {
	id := GoroutineID()
	to = func(ctx context.Context) {
		call := callOf(ctx)
		if call == nil {
			return
		}
		w, p := call.Client.world, call.Client.process
		w.mu.Lock()
		defer w.mu.Unlock()
		if p.delegates == nil {
			p.delegates = map[uint64]*Call{}
		}
		p.delegates[id] = call
	}
	to(ctx)
	return to
}

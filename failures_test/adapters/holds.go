package adapters

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// ErrNoHold is returned by Unlock to a client that has never held the lock.
var ErrNoHold = errors.New("adapters: the client has no hold to release")

// ErrNoRelease is returned by Unlock if the hold has no method to free the lock.
var ErrNoRelease = errors.New("adapters: the hold has no Unlock and no Release: fill in a Holds")

// Holds is a Locker for a lock whose acquire returns a hold, an H, with its own release. It keeps
// the holds of each client, because a Locker's Unlock gets none. Unlock releases the newest hold. A
// second Unlock releases the same hold again, to test how the lock handles that.
//
//	lock := NewLock(rdb, name, lease)
//	return &adapters.Holds[*Hold]{
//		Acquire: lock.Acquire, Try: lock.TryAcquire, Release: (*Hold).Release, Taken: ErrTaken,
//	}, nil
type Holds[H any] struct {
	Acquire func(context.Context) (H, error)       // waits for the lock
	Try     func(context.Context) (H, error)       // makes one attempt
	Release func(H, context.Context) error         // frees it
	Taken   error                                  // returned by Try if another client holds the lock
	Inside  func(H) context.Context                // the context for a nested acquire; nil for a lock without re-entry
	Fence   func(H) int64                          // the hold's fencing token; nil for a lock without tokens
	Loss    func(H) (<-chan struct{}, func() bool) // as Lost of [world.Noticing]; nil for a lock that does not report losses

	causes bool // a context that is cancelled without a cause tells of no loss

	mu      sync.Mutex
	clients map[string]*client[H]
}

// client is what one client holds.
type client[H any] struct {
	holds []*held[H] // newest last
	last  *held[H]   // released last; nil at first
}

// held is a hold and how it was taken.
type held[H any] struct {
	hold     H
	taken    context.Context // the context of the acquire
	released bool            // guarded by Holds.mu
}

// Lock waits for the lock, or re-enters.
func (h *Holds[H]) Lock(ctx context.Context) error { return h.Take(ctx, h.Acquire) }

// TryLock makes one attempt.
func (h *Holds[H]) TryLock(ctx context.Context) (bool, error) {
	err := h.Take(ctx, h.Try)
	if h.Taken != nil && errors.Is(err, h.Taken) {
		return false, nil
	}
	return err == nil, err
}

// Take acquires the lock in any way and keeps the hold. It does not cancel the nested context, because the
// hold's context may be derived from it.
func (h *Holds[H]) Take(ctx context.Context, acquire func(context.Context) (H, error)) error {
	nested, cancel := h.Nest(ctx)
	hold, err := acquire(nested)
	if err == nil && isNil(hold) { // a lock that is taken has to return Taken
		err = trace.ErrNothing
	}
	if err != nil {
		cancel()
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.client(ctx)
	l.holds = append(l.holds, &held[H]{hold: hold, taken: nested})
	return nil
}

func isNil[H any](hold H) bool {
	switch v := reflect.ValueOf(&hold).Elem(); v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// Unlock releases the client's newest hold.
func (h *Holds[H]) Unlock(ctx context.Context) error {
	h.mu.Lock()
	l := h.client(ctx)
	if n := len(l.holds); n > 0 {
		l.last, l.holds = l.holds[n-1], l.holds[:n-1:n-1]
		l.last.released = true
	}
	last := l.last
	h.mu.Unlock()
	if last == nil {
		return ErrNoHold
	}
	return h.Release(last.hold, ctx)
}

// Nest returns the context for a further acquire of the client: it carries the newest hold, as if
// the program passed the hold's context on, and it ends with ctx.
func (h *Holds[H]) Nest(ctx context.Context) (context.Context, context.CancelFunc) {
	newest := h.newest(ctx)
	if newest == nil || h.Inside == nil {
		return ctx, func() {}
	}
	nested, cancel := context.WithCancel(h.Inside(newest.hold))
	if at, limited := ctx.Deadline(); limited {
		cancel()
		nested, cancel = context.WithDeadline(h.Inside(newest.hold), at)
	}
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled { // the nested context has the same deadline
			cancel()
		}
	})
	return nested, func() { stop(); cancel() }
}

// Token returns the fencing token of the client's newest hold; 0 without a hold.
func (h *Holds[H]) Token(ctx context.Context) int64 {
	newest := h.newest(ctx)
	if newest == nil || h.Fence == nil {
		return 0
	}
	return h.Fence(newest.hold)
}

// Lost returns a channel that is closed when the client's newest hold ends, and whether it was
// lost. A hold is also lost if it ends without an Unlock and without the end of the caller's context.
func (h *Holds[H]) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	newest := h.newest(ctx)
	if newest == nil || h.Loss == nil {
		return nil, nil
	}
	ended, isLost := h.Loss(newest.hold)
	return ended, func() bool {
		h.mu.Lock()
		released := newest.released
		h.mu.Unlock()
		tells := !h.causes || context.Cause(h.Inside(newest.hold)) != context.Canceled
		return isLost() || tells && !released && newest.taken.Err() == nil
	}
}

// newest returns the client's newest hold; nil if it has none.
func (h *Holds[H]) newest(ctx context.Context) *held[H] {
	h.mu.Lock()
	defer h.mu.Unlock()
	holds := h.client(ctx).holds
	if len(holds) == 0 {
		return nil
	}
	return holds[len(holds)-1]
}

// client returns what the client holds whose call has the context.
func (h *Holds[H]) client(ctx context.Context) *client[H] {
	name := world.ClientName(ctx)
	if h.clients == nil {
		h.clients = map[string]*client[H]{}
	}
	if h.clients[name] == nil {
		h.clients[name] = &client[H]{}
	}
	return h.clients[name]
}

package adapters

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"lockkata/failures_test/world"
)

// ErrNoHold is what a [Holds]'s Unlock returns to a client that never held the
// lock: there is nothing that it could release.
var ErrNoHold = errors.New("adapters: the client has no hold to release")

// ErrNoRelease is what Unlock returns of a hold that has no method to free the lock.
var ErrNoRelease = errors.New("adapters: the hold has no Unlock and no Release: fill in a Holds")

// Holds makes a Locker of a lock whose acquire returns a hold, an H, which is
// released by itself. A Locker's Unlock names no hold, so the Holds remembers those
// of each client, and releases the newest; a second Unlock releases the last one
// again, so that the lock itself says what becomes of that.
//
//	lock := NewLock(rdb, name, lease)
//	return &adapters.Holds[*Hold]{
//		Acquire: lock.Acquire, Try: lock.TryAcquire, Release: (*Hold).Release, Taken: ErrTaken,
//	}, nil
type Holds[H any] struct {
	Acquire func(context.Context) (H, error)       // waits for the lock
	Try     func(context.Context) (H, error)       // makes one attempt
	Release func(H, context.Context) error         // frees it
	Taken   error                                  // what Try returns when somebody else holds the lock
	Inside  func(H) context.Context                // what a nested acquire is to get; nil where a holder cannot re-enter
	Fence   func(H) int64                          // the hold's fencing token; nil for a lock without
	Loss    func(H) (<-chan struct{}, func() bool) // as Lost of [world.Noticing]; nil for a lock that tells nobody

	mu    sync.Mutex
	lanes map[string]*lane[H]
}

// lane is what one client holds.
type lane[H any] struct {
	holds []*held[H] // newest last
	last  *held[H]   // the one that was released last, nil if none was
}

// held is a hold, and what may end it by right.
type held[H any] struct {
	hold     H
	taken    context.Context // with which it was taken
	released bool            // guarded by Holds.mu
}

// Lock waits for the lock, or re-enters.
func (h *Holds[H]) Lock(ctx context.Context) error { return h.take(ctx, h.Acquire) }

// TryLock makes one attempt.
func (h *Holds[H]) TryLock(ctx context.Context) (bool, error) {
	err := h.take(ctx, h.Try)
	if h.Taken != nil && errors.Is(err, h.Taken) {
		return false, nil
	}
	return err == nil, err
}

// take takes the lock and remembers the hold. The hold's context may be made from
// the nested one, which only a failure may end.
func (h *Holds[H]) take(ctx context.Context, acquire func(context.Context) (H, error)) error {
	nested, cancel := h.Nest(ctx)
	hold, err := acquire(nested)
	if err == nil && isNil(hold) { // Taken is how a lock says that somebody else has it
		err = world.ErrNothing
	}
	if err != nil {
		cancel()
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.lane(ctx)
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
	l := h.lane(ctx)
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

// Nest returns the context with which the client asks the lock for more: one that
// carries its newest hold, as a program has it that passes the hold's context on,
// and that ends with ctx.
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
		if ctx.Err() == context.Canceled { // its deadline is the nested context's own
			cancel()
		}
	})
	return nested, func() { stop(); cancel() }
}

// Token is the fencing token of the client's newest hold, 0 without one.
func (h *Holds[H]) Token(ctx context.Context) int64 {
	newest := h.newest(ctx)
	if newest == nil || h.Fence == nil {
		return 0
	}
	return h.Fence(newest.hold)
}

// Lost tells when the client's newest hold ends, and whether it was lost. One that ends although
// neither its owner released it nor the caller's context ended is lost to its owner, whatever
// the lock says of the reason.
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
		return isLost() || !released && newest.taken.Err() == nil
	}
}

// newest is the client's newest hold, nil if it has none.
func (h *Holds[H]) newest(ctx context.Context) *held[H] {
	h.mu.Lock()
	defer h.mu.Unlock()
	holds := h.lane(ctx).holds
	if len(holds) == 0 {
		return nil
	}
	return holds[len(holds)-1]
}

// lane is that of the client on whose behalf ctx is.
func (h *Holds[H]) lane(ctx context.Context) *lane[H] {
	name := world.Lane(ctx)
	if h.lanes == nil {
		h.lanes = map[string]*lane[H]{}
	}
	if h.lanes[name] == nil {
		h.lanes[name] = &lane[H]{}
	}
	return h.lanes[name]
}

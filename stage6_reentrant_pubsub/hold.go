package stage6

import (
	"context"
	"errors"
)

// Hold is one successful Lock: the proof of it, and the way to end it. It is
// released once, by whoever has it, in any order.
type Hold struct {
	own      *ownership
	ctx      heldContext
	cancel   context.CancelCauseFunc
	released bool // guarded by own.mu
}

// heldKey finds, in a context, the hold of one lock.
type heldKey struct {
	svc *Service
	key string
}

// heldContext is a context that carries its hold.
type heldContext struct {
	context.Context
	hold *Hold
}

// Value finds the hold, and what the context was made from carries.
func (c *heldContext) Value(key any) any {
	if key == c.hold.own.mutex.inContext {
		return c.hold
	}
	return c.Context.Value(key)
}

// carried is the innermost hold that ctx carries and that was not released, nil if there
// is none.
func (m *Mutex) carried(ctx context.Context) *Hold {
	for {
		h, _ := ctx.Value(m.inContext).(*Hold)
		if h == nil || !h.isReleased() {
			return h
		}
		ctx = h.ctx.Context // perhaps that of an outer hold
	}
}

func (h *Hold) isReleased() bool {
	h.own.mu.Lock()
	defer h.own.mu.Unlock()
	return h.released
}

// newHold adds a hold whose context is made from parent.
func (o *ownership) newHold(parent context.Context) *Hold {
	h := &Hold{own: o}
	ctx, cancel := context.WithCancelCause(parent)
	h.ctx, h.cancel = heldContext{ctx, h}, cancel
	o.mu.Lock()
	o.holds = append(o.holds, h)
	end := o.end
	o.mu.Unlock()
	if end != nil {
		h.cancel(end)
	}
	return h
}

// Context carries the hold: a Lock with it, or with a context made from it,
// re-enters. It ends with the context that Lock was given, which for a re-entry is
// that of the outer hold; before the lock is freed, when the hold is released; with
// cause ErrLost when the hold is lost, and with ErrClosed when the service closes. A
// loss that only Unlock finds is Unlock's error: the context had ended before.
func (h *Hold) Context() context.Context { return &h.ctx }

// Token is the fencing token: higher than that of every earlier hold. Send it with
// each write to the resource, which refuses one lower than the highest it has
// seen, and an equal one of another owner.
func (h *Hold) Token() int64 { return h.own.token }

// Unlock releases the hold; the last one frees the lock. It returns ErrNotHeld for
// a hold that was released before, ErrLost for one that was lost, and ErrClosed
// where the service released it. It needs no
// context and is bounded in time, by a lease: whatever became of the caller's
// context, the lock is freed. When the last release ends in any other error the
// lock is no longer renewed, and free when its lease is over.
func (h *Hold) Unlock() error {
	o := h.own
	if !o.drop(h) {
		return ErrNotHeld
	}
	if o.mutex.svc.begin() {
		defer o.mutex.svc.tasks.Done()
	}
	h.cancel(nil) // before the lock is freed: who works on is told in time
	late := o.takeTurnInTime()
	if late == nil {
		defer o.giveTurn()
	}
	count, end := o.count()
	if errors.Is(end, ErrNotHeld) {
		return nil // this hold was one of the last ones, and another Unlock freed the lock for all of them
	}
	if end != nil {
		if count == 0 {
			o.freeWhatIsLeft()
		}
		return end
	}
	if count == 0 { // a re-entry that hangs finds nothing when it gets through
		return o.release(ErrNotHeld)
	}
	if late != nil {
		return late
	}
	return o.setCount(context.Background(), count)
}

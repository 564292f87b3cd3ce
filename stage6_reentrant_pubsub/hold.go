package stage6

import (
	"context"
	"errors"
	"slices"
)

// Hold is one successful Lock: the proof of it, and the way to end it. It is
// released once, by whoever has it, in any order.
type Hold struct {
	own    *ownership
	ctx    context.Context
	cancel context.CancelCauseFunc
	outer  *Hold // the one that it re-entered, nil for the first
}

// heldKey finds, in a context, the hold of one lock.
type heldKey struct {
	svc *Service
	key string
}

// carried is the innermost hold that ctx carries and that was not released, nil if there
// is none.
func (m *Mutex) carried(ctx context.Context) *Hold {
	h, _ := ctx.Value(m.inContext).(*Hold)
	m.svc.mu.Lock()
	defer m.svc.mu.Unlock()
	for h != nil && !slices.Contains(h.own.holds, h) {
		h = h.outer
	}
	return h
}

// newHold adds a hold whose context is made from parent.
func (o *ownership) newHold(parent context.Context) (*Hold, error) {
	m := o.mutex
	h := &o.first
	if h.own != nil {
		h = &Hold{}
	}
	ctx, cancel := context.WithCancelCause(parent)
	*h = Hold{o, context.WithValue(ctx, m.inContext, h), cancel, m.carried(parent)}
	m.svc.mu.Lock()
	defer m.svc.mu.Unlock()
	if o.end != nil { // meanwhile
		cancel(o.end)
		return nil, o.end
	}
	o.holds = append(o.holds, h)
	return h, nil
}

// Context carries the hold: a Lock with it, or with a context made from it,
// re-enters. It ends with the context that Lock was given, which for a re-entry is
// that of the outer hold; before the lock is freed, when the hold is released; with
// cause ErrLost when the hold is lost, and with ErrClosed when the service closes. A
// loss that only Unlock finds is Unlock's error: the context had ended before.
func (h *Hold) Context() context.Context { return h.ctx }

// Token is the fencing token: higher than that of every earlier owner. Send it with
// each write to the resource, which refuses one lower than the highest it has
// seen, and an equal one of another owner.
func (h *Hold) Token() int64 { return h.own.token }

// Unlock releases the hold; the last one frees the lock. It returns ErrNotHeld for
// a hold that was released before, ErrLost for one that was lost, whose key it frees
// where Redis still has it, and ErrClosed where the service released it. It needs no
// context and is bounded in time, by a lease: whatever became of the caller's
// context, the lock is freed. When the last release ends in any other error the
// lock is no longer renewed, and free when its lease is over.
func (h *Hold) Unlock() error {
	o, s := h.own, h.own.mutex.svc
	s.mu.Lock()
	at := slices.Index(o.holds, h)
	if at < 0 {
		s.mu.Unlock()
		return ErrNotHeld
	}
	o.holds = slices.Delete(o.holds, at, at+1)
	left, end, closed := len(o.holds), o.end, s.done
	if !closed {
		s.tasks.Add(1)
		defer s.tasks.Done()
	}
	s.mu.Unlock()
	h.cancel(nil) // before the lock is freed: who works on is told in time
	switch {
	case end == nil && left == 0:
		return o.release(context.Background(), ErrNotHeld)
	case end == nil:
		if _, err := o.setCount(context.Background(), context.Background(), 0); !errors.Is(err, ErrNotHeld) { // else the last Unlock was faster
			return err
		}
		return nil
	case left == 0 && end == ErrLost && !closed: // WithMaxHold has ended it, or renewals whose answers came too late
		_, _ = o.send(context.Background(), 0) // the lease frees it else
	}
	return end
}

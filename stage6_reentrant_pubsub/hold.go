package stage6

import (
	"context"
	"errors"
	"slices"
)

// Hold represents one successful Lock. It is released once, by any goroutine.
// Holds of one owner may be released in any order.
type Hold struct {
	own    *ownership
	ctx    context.Context
	cancel context.CancelCauseFunc
	outer  *Hold // the hold that it re-entered; nil for the first
}

// heldKey is the context key of the hold of one lock.
type heldKey struct {
	svc *Service
	key string
}

// carried returns the innermost hold that ctx carries and that was not released, or
// nil.
func (m *Mutex) carried(ctx context.Context) *Hold {
	h, _ := ctx.Value(m.inContext).(*Hold)
	m.svc.mu.Lock()
	defer m.svc.mu.Unlock()
	for h != nil && !slices.Contains(h.own.holds, h) {
		h = h.outer
	}
	return h
}

// newHold adds a hold whose context is derived from parent.
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
	if o.end != nil { // it has ended in the meantime
		cancel(o.end)
		return nil, o.end
	}
	o.holds = append(o.holds, h)
	return h, nil
}

// Context returns a context that carries the hold: a Lock with it, or with a context derived
// from it, re-enters. It ends with the context that was passed to Lock (for a re-entry, that
// of the outer hold), and when the hold is released, before the lock is freed. Its cause is
// ErrLost when the hold is lost, and ErrClosed when the service is closed. A loss that only
// Unlock finds is returned by Unlock: the context has ended by then.
func (h *Hold) Context() context.Context { return h.ctx }

// Token returns the fencing token, which is higher than that of every earlier
// owner. Send it with each write: the resource refuses a token lower than the
// highest it has seen, and an equal one of another owner.
func (h *Hold) Token() int64 { return h.own.token }

// Unlock releases the hold; the last one frees the lock. It returns ErrNotHeld for a
// hold that was released before, ErrClosed for one that Close has released, and
// ErrLost for one that was lost, whose key it deletes if Redis still has it. It
// takes no context, so that the lock is freed even if the caller's context has
// ended. While Redis does not answer it tries for up to half a lease, and for a lease
// if it is not the last one. If the last release ends in any other error the lock
// is no longer renewed, and is free, or becomes free when its lease ends. A try that
// finds nothing after one without an answer is no error if no other owner has come since,
// by the token; otherwise it is an error: the outcome is not known.
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
	h.cancel(nil) // before the lock is freed: work with this context is told in time
	switch {
	case end == nil && left == 0:
		return o.release(context.Background())
	case end == nil:
		if _, err := o.setCount(context.Background(), context.Background(), 0); !errors.Is(err, ErrNotHeld) { // otherwise the last Unlock was faster
			return err
		}
		return nil
	case left == 0 && end == ErrLost && !closed: // WithMaxHold has ended it, or its renewals were answered too late
		_, _ = o.send(context.Background(), 0, false) // if this fails, the key stays until its lease ends
	}
	return end
}

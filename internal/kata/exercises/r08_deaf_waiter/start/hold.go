package mylock

import (
	"context"
	"errors"
)

// ErrLost is returned by Unlock when the lease ended before it, and is the cause
// with which the context of such a hold ends.
var ErrLost = errors.New("mylock: hold is lost")

// Hold is one successful Lock: the proof of it, and the way to end it. It is
// released once, by whoever has it, in any order.
type Hold struct {
	own      *ownership
	ctx      context.Context
	end      context.CancelCauseFunc // ends ctx
	released bool
}

// holdKey finds, in a context, the hold of one lock.
type holdKey struct {
	rdb sender
	key string
}

// newHold is one more hold of the owner.
func (m *Mutex) newHold(ctx context.Context, o *ownership) *Hold {
	h := &Hold{own: o}
	ctx, h.end = context.WithCancelCause(ctx)
	h.ctx = context.WithValue(ctx, holdKey{m.rdb, m.key}, h)
	return h
}

// carried is the hold that ctx carries, nil if it carries none.
func (m *Mutex) carried(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{m.rdb, m.key}).(*Hold)
	return h
}

// Context is for the work: it ends when the hold does, and with the context that
// Lock was given. Its cause is ErrLost when the hold is lost. It carries the hold: a
// Lock with it, or with a context made from it, re-enters.
func (h *Hold) Context() context.Context { return h.ctx }

// Unlock ends the hold's context; the last one frees the lock. It returns ErrLost
// when the hold is lost, and ErrNotHeld when it was released before; after any other
// error it may be called again. It needs no context and is bounded in time: it waits
// for a renewal under way, a third of the ttl at most, and then for three answers,
// each for a sixth.
func (h *Hold) Unlock() error {
	o := h.own
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if h.released {
		return ErrNotHeld
	}
	if o.lost.Load() {
		_, _ = o.setCount(o.owner, 0) // Redis may have renewed it, and the answer came too late
		return ErrLost
	}
	h.end(ErrNotHeld) // before the lock is freed: who works on is told in time
	if o.count == 1 {
		o.stop()
	}
	if err := o.set("unlock", o.count-1); err != nil {
		return err
	}
	h.released = true
	return nil
}

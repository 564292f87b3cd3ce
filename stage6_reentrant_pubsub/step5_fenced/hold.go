package stage6

import (
	"context"
	"errors"
	"strings"
)

// ErrLost is returned by Unlock when the lease ended before it, and is the cause
// with which the context of such a hold ends.
var ErrLost = errors.New("stage6: hold is lost")

// isWrongType reports whether Redis has found a key of another type.
func isWrongType(err error) bool { return err != nil && strings.Contains(err.Error(), "WRONGTYPE") }

// Hold represents one successful Lock. It is released once, by any goroutine.
// Holds of one owner may be released in any order.
type Hold struct {
	own      *ownership
	ctx      context.Context
	end      context.CancelCauseFunc // ends ctx
	released bool
}

// holdKey is the context key of the hold of one lock.
type holdKey struct {
	rdb sender
	key string
}

// newHold returns another hold of the owner.
func (m *Mutex) newHold(ctx context.Context, o *ownership) *Hold {
	h := &Hold{own: o}
	ctx, h.end = context.WithCancelCause(ctx)
	h.ctx = context.WithValue(ctx, holdKey{m.rdb, m.key}, h)
	return h
}

// carried returns the hold that ctx carries, or nil.
func (m *Mutex) carried(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{m.rdb, m.key}).(*Hold)
	return h
}

// Context returns the context for the work. It ends with the hold, and with the
// context that was passed to Lock. Its cause is ErrLost when the hold is lost. It
// carries the hold: a Lock with it, or with a context derived from it, re-enters.
func (h *Hold) Context() context.Context { return h.ctx }

// Token returns the fencing token, which is higher than that of every earlier owner. Send
// it with each write: the resource refuses a token lower than the highest it has seen.
func (h *Hold) Token() int64 { return h.own.token }

// Unlock ends the hold's context; the last one frees the lock. It returns ErrLost when
// the hold is lost, and ErrNotHeld when it was released before. If the outcome of an
// attempt is unknown and the next one finds nothing, the lock was freed if the token in
// Redis is still this owner's. Otherwise Unlock returns an error: the outcome is not
// known, and the hold has ended. After any other error it may be called again. It takes
// no context. It waits for a renewal under way, a third of the ttl at most, and then for
// three answers, a sixth of the ttl each at most.
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
	h.end(ErrNotHeld) // before the lock is freed: work with this context is told in time
	if o.count == 1 {
		o.stop()
	}
	left := o.count - 1
	err := o.set("unlock", left)
	h.released = o.count == left // also if the outcome is not known
	return err
}

package mylock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLost is returned by Unlock when the lease ended before it, and is the cause
// with which the context of such a hold ends.
var ErrLost = errors.New("mylock: hold is lost")

// Hold is one successful Lock: the proof of it, and the way to end it. A hold is
// for one goroutine at a time; its context is for any.
type Hold struct {
	ctx      context.Context
	end      context.CancelCauseFunc // ends ctx
	watchdog *watchdog
	released bool
}

// newHold is the hold of a lock that was taken with a command sent at that time.
func (m *Mutex) newHold(ctx context.Context, owner string, sent time.Time) *Hold {
	h := &Hold{}
	h.ctx, h.end = context.WithCancelCause(ctx)
	h.watchdog = m.watch(owner, sent, h.end)
	return h
}

// Context is for the work: it ends when the hold does, and with the context that
// Lock was given. Its cause is ErrLost when the hold is lost.
func (h *Hold) Context() context.Context { return h.ctx }

// Unlock ends the hold's context and frees the lock. It returns ErrLost when the
// hold is lost, and ErrNotHeld when it was released before; after any other error
// it may be called again. It needs no context and is bounded in time: it waits for a
// renewal under way, a third of the ttl at most, and then for three answers, each
// for a sixth.
func (h *Hold) Unlock() error {
	w := h.watchdog
	if h.released {
		return ErrNotHeld
	}
	if w.lost.Load() {
		_, _ = w.free(w.owner) // Redis may have renewed it, and the answer came too late
		return ErrLost
	}
	h.end(ErrNotHeld) // before the lock is freed: who works on is told in time
	w.stop()
	var err error
	for range attempts {
		var deleted bool
		deleted, err = w.free(w.owner)
		if err == nil {
			h.released = true
			if !deleted {
				return ErrLost
			}
			return nil
		}
		if isRefusal(err) {
			break
		}
	}
	return fmt.Errorf("mylock: unlock %s: %w", w.key, err)
}

package stage6

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrLost is returned by Unlock when the lease ended before it, and is the cause
// with which the context of such a hold ends.
var ErrLost = errors.New("stage6: hold is lost")

// isWrongType reports whether Redis has found a key of another type.
func isWrongType(err error) bool { return err != nil && strings.Contains(err.Error(), "WRONGTYPE") }

// Hold represents one successful Lock. Only one goroutine at a time may use it;
// any number may use its context.
type Hold struct {
	ctx      context.Context
	end      context.CancelCauseFunc // ends ctx
	watchdog *watchdog
	released bool
}

// newHold returns the hold of a lock whose acquire was sent at that time.
func (m *Mutex) newHold(ctx context.Context, owner string, sent time.Time) *Hold {
	h := &Hold{}
	h.ctx, h.end = context.WithCancelCause(ctx)
	h.watchdog = m.watch(owner, sent, h.end)
	return h
}

// Context returns the context for the work. It ends with the hold, and with the
// context that was passed to Lock. Its cause is ErrLost when the hold is lost.
func (h *Hold) Context() context.Context { return h.ctx }

// Unlock ends the hold's context and frees the lock. It returns ErrLost when the
// hold is lost, and ErrNotHeld when it was released before. With a ctx that is
// already done it sends nothing, and the key stays until its lease ends; after any
// other error Unlock may be called again. Unlock stops the watchdog before it
// deletes the key: it waits for a renewal under way, a third of the ttl at most,
// even if ctx is done.
func (h *Hold) Unlock(ctx context.Context) error {
	w := h.watchdog
	if h.released {
		return ErrNotHeld
	}
	if w.lost.Load() {
		_ = unlockScript.Run(ctx, w.rdb, []string{w.key}, w.owner).Err() // Redis may have renewed it, and the answer came too late
		return ErrLost
	}
	h.end(ErrNotHeld) // before the lock is freed: work with this context is told in time
	w.stop()
	deleted, err := unlockScript.Run(ctx, w.rdb, []string{w.key}, w.owner).Int()
	if err != nil && !isWrongType(err) {
		return fmt.Errorf("stage6: unlock %s: %w", w.key, err)
	}
	h.released = true
	if deleted == 0 {
		return ErrLost
	}
	return nil
}

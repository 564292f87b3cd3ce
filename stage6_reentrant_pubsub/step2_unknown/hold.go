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
	unknown  error // of an unlock whose outcome is unknown
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
// hold is lost, and ErrNotHeld when it was released before. If the outcome of an attempt
// is unknown and the next one finds nothing, Unlock returns an error that says so, and
// the hold has ended. After any other error it may be called again. It takes no context.
// It waits for a renewal under way, a third of the ttl at most, and then for three
// answers, a sixth of the ttl each at most.
func (h *Hold) Unlock() error {
	w := h.watchdog
	if h.released {
		return ErrNotHeld
	}
	if w.lost.Load() {
		_, _ = w.free(w.owner) // Redis may have renewed it, and the answer came too late
		return ErrLost
	}
	h.end(ErrNotHeld) // before the lock is freed: work with this context is told in time
	w.stop()
	var err error
	for range attempts {
		var deleted bool
		deleted, err = w.free(w.owner)
		h.released = err == nil
		switch {
		case deleted:
			return nil
		case err == nil && h.unknown != nil: // that attempt has freed the lock, or the lock was lost before
			return fmt.Errorf("stage6: unlock %s: the outcome is not known: %w", w.key, h.unknown)
		case err == nil:
			return ErrLost
		case isRefusal(err):
			return fmt.Errorf("stage6: unlock %s: %w", w.key, err)
		case isUnknown(err):
			h.unknown = err
		}
	}
	return fmt.Errorf("stage6: unlock %s: %w", w.key, err)
}

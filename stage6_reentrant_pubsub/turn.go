package stage6

import (
	"context"
	"sync"
)

// turn is a mutex for which one waits no longer than a context allows. Most are
// never waited for, and have no channel.
type turn struct {
	mu    sync.Mutex
	taken bool
	given chan struct{} // capacity 1; from the first one who waits on, the turn is what is in it
}

// try takes the turn if it is free.
func (t *turn) try() bool { return t.tryOrWait() == nil }

// take takes the turn, or returns why ctx ended.
func (t *turn) take(ctx context.Context) error {
	given := t.tryOrWait()
	if given == nil {
		return nil
	}
	select {
	case <-given:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryOrWait takes the turn, and returns nil, or returns where to wait for it.
func (t *turn) tryOrWait() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.taken {
		t.taken = true
		return nil
	}
	if t.given == nil {
		t.given = make(chan struct{}, 1)
	}
	return t.given
}

// give gives the turn to the one who has waited longest.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given == nil {
		t.taken = false
		return
	}
	t.given <- struct{}{}
}

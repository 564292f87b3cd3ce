package mylock

import (
	"context"
	"sync"
	"time"
)

// hold is one time that the lock was taken. It ends with its Unlock, or lost, when
// its lease is over.
type hold struct {
	ended chan struct{}
	timer *time.Timer

	mu   sync.Mutex
	over bool
	lost bool
}

// newHold returns a hold whose lease has this long left.
func newHold(left time.Duration) *hold {
	h := &hold{ended: make(chan struct{})}
	h.timer = time.AfterFunc(left, func() { h.end(true) })
	return h
}

// end ends the hold, the first time that it is called.
func (h *hold) end(lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	h.over, h.lost = true, lost
	close(h.ended)
}

func (h *hold) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Lost returns a channel that is closed when the present hold ends, and a function
// that then tells whether it was lost. Both are nil while nothing is held.
func (m *Mutex) Lost(context.Context) (<-chan struct{}, func() bool) {
	if m.hold == nil {
		return nil, nil
	}
	return m.hold.ended, m.hold.isLost
}

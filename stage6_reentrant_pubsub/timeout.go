package stage6

import (
	"context"
	"sync"
	"time"
)

// timeout makes contexts that end after a time. Who asks within a tenth of it gets
// the same one again: a timer for each command would cost more than the rest of an
// Unlock.
type timeout struct {
	after time.Duration

	mu   sync.Mutex
	ctx  context.Context
	made time.Time
}

// context ends after at least nine tenths of the time.
func (t *timeout) context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); t.ctx == nil || now.Sub(t.made) > t.after/10 {
		ctx, cancel := context.WithTimeout(context.Background(), t.after)
		context.AfterFunc(ctx, cancel) // nobody else ends it: others may still use it
		t.ctx, t.made = ctx, now
	}
	return t.ctx
}

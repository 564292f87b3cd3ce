package stage6

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// hear listens for the room until ctx ends, over one subscription after another.
func (r *room) hear(ctx context.Context) {
	s := r.mutex.svc
	for wait := reconnectPause; ; wait = min(2*wait, s.lease/3) {
		begun := time.Now()
		err := r.subscription(ctx)
		if ctx.Err() != nil || errors.Is(err, redis.ErrClosed) {
			return
		}
		s.logger.Warn("waiting without messages", "name", r.mutex.name, "error", err)
		if time.Since(begun) > s.lease { // it worked for a while
			wait = reconnectPause
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// subscription wakes the room for every message, and for every acknowledgement of
// the subscription: what was published before it was not heard. It returns when
// the subscription has ended.
func (r *room) subscription(ctx context.Context) error {
	sub := r.mutex.svc.rdb.Subscribe(ctx, r.mutex.channel)
	unblock := context.AfterFunc(ctx, func() { _ = sub.Close() }) // ends the wait for a message
	defer unblock()
	defer sub.Close()
	for {
		message, err := sub.Receive(ctx)
		if err != nil {
			return err
		}
		switch message.(type) {
		case *redis.Subscription, *redis.Message:
			r.signal()
		}
	}
}

// reconnectPause is how long to wait before subscribing anew, at first: a server
// that is away, or that refuses, is asked less and less often.
const reconnectPause = 50 * time.Millisecond

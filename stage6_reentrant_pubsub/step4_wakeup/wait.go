package stage6

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lock waits until it holds the lock, or re-enters. It asks Redis at the start, when
// its subscription is acknowledged, after each message, and when the holder's lease has
// ended. It returns the context's error when ctx ends between two attempts, and
// otherwise the first error of an attempt: a timeout if ctx ended while the attempt was
// on its way.
func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	hold, left, err := m.try(ctx)
	if !errors.Is(err, ErrLocked) {
		return hold, err
	}
	sub := m.rdb.Subscribe(ctx, m.key)
	defer sub.Close()
	// A message wakes the waiter, and so does an acknowledgement of the subscription:
	// messages published before it were missed, also after a reconnect. The channel keeps
	// both until they are received. Health checks would only add commands.
	woken := sub.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(0))
	for errors.Is(err, ErrLocked) {
		select {
		case <-ctx.Done():
		case <-woken:
		case <-time.After(left + time.Millisecond): // Redis expires a key just after its time
		}
		if err := ended(ctx); err != nil {
			return nil, fmt.Errorf("stage6: wait for %s: %w", m.key, err)
		}
		hold, left, err = m.try(ctx)
	}
	return hold, err
}

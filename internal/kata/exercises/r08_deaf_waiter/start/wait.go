package mylock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lock waits until it holds the lock, or re-enters. It asks when there is a reason to:
// at first, when it listens for messages, when one comes, and when the holder's lease
// is over. It returns the context's error when ctx ends between two attempts, and
// otherwise the first error of an attempt: a timeout if ctx ended while the attempt was
// on its way.
func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	hold, left, err := m.try(ctx)
	if !errors.Is(err, ErrLocked) {
		return hold, err
	}
	sub := m.rdb.Subscribe(ctx, m.key)
	defer sub.Close()
	woken := sub.Channel(redis.WithChannelHealthCheckInterval(0)) // no commands for nothing
	for errors.Is(err, ErrLocked) {
		select {
		case <-ctx.Done():
		case <-woken:
		case <-time.After(left + time.Millisecond): // Redis lets a key go just after its time
		}
		if err := ended(ctx); err != nil {
			return nil, fmt.Errorf("mylock: wait for %s: %w", m.key, err)
		}
		hold, left, err = m.try(ctx)
	}
	return hold, err
}

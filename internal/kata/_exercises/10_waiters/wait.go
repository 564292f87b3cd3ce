package mylock

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lock waits until it holds the lock. It asks Redis once, then again at each
// message, at each acknowledgement of its subscription, and when the lease of the
// holder is over.
func (m *Mutex) Lock(ctx context.Context) error {
	held, err := m.TryLock(ctx)
	if err != nil || held {
		return err
	}
	subscription := m.rdb.Subscribe(ctx, m.channel())
	defer subscription.Close()
	news := subscription.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(0))
	timer := time.NewTimer(m.ttl)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("mylock: wait for %s: %w", m.key, ctx.Err())
		case <-news: // what was published before the acknowledgement was not heard
		case <-timer.C:
		}
		held, err := m.TryLock(ctx)
		if err != nil || held {
			return err
		}
		left, err := m.rdb.PTTL(ctx, m.key).Result()
		if err != nil {
			return fmt.Errorf("mylock: lease of %s: %w", m.key, err)
		}
		timer.Reset(max(left, time.Millisecond)) // a key that is gone by now is free
	}
}

package mylock

import (
	"context"
	"fmt"
)

// Lock waits until it holds the lock. It asks Redis once, and then again at each
// message: every Unlock publishes one.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		held, err := m.TryLock(ctx)
		if err != nil || held {
			return err
		}
		if err := m.message(ctx); err != nil {
			return err
		}
	}
}

// message waits for a message.
func (m *Mutex) message(ctx context.Context) error {
	subscription := m.rdb.Subscribe(ctx, m.channel())
	defer subscription.Close()
	select {
	case <-ctx.Done():
		return fmt.Errorf("mylock: wait for %s: %w", m.key, ctx.Err())
	case <-subscription.Channel():
		return nil
	}
}

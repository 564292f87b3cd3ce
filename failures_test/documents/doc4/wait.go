package doc4

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// TryLock makes one attempt.
func (l *Lock) TryLock(ctx context.Context) (bool, error) {
	_, held, err := l.tryAcquire(ctx)
	return held, err
}

// Lock tries, and subscribes to the message of an unlock. The chapter says only 订阅并等待,
// so the rest is not the document's and is correct: one waiter of a process at a time tries,
// when its subscription is acknowledged, and again at each message, each
// acknowledgement and each end of a lease.
func (l *Lock) Lock(ctx context.Context) error {
	if len(l.turn) == 0 || l.holds(ctx) {
		if _, held, err := l.tryAcquire(ctx); err != nil || held {
			return err
		}
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.turn }()
	messages := make(chan struct{}, 1)
	pubsub := l.rdb.Subscribe(context.WithoutCancel(ctx), l.channel)
	defer func() { _ = pubsub.Close() }() // its only error is that it was already closed
	go l.receive(pubsub, messages)
	ttl := l.internalLockLeaseTime
	for {
		select {
		case <-messages:
		case <-time.After(ttl):
		case <-ctx.Done():
			return ctx.Err()
		}
		var held bool
		var err error
		if ttl, held, err = l.tryAcquire(ctx); err != nil || held {
			return err
		}
	}
}

// holds reports whether the calling thread holds the lock.
func (l *Lock) holds(ctx context.Context) bool {
	count, err := l.HoldCount(ctx)
	return err == nil && count > 0
}

// receive sends a wake-up for each message until the subscription is closed.
func (l *Lock) receive(pubsub *redis.PubSub, messages chan<- struct{}) {
	for {
		_, err := pubsub.Receive(context.Background())
		switch {
		case errors.Is(err, redis.ErrClosed):
			return
		case err != nil:
			time.Sleep(100 * time.Millisecond)
			_ = pubsub.Subscribe(context.Background(), l.channel) // the next Receive reports errors
			continue
		}
		select {
		case messages <- struct{}{}:
		default:
		}
	}
}

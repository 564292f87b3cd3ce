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

// Lock asks, and listens for the message of an unlock. The chapter says no more than
// 订阅并等待, so what follows is nobody's mistake: one waiter of a process at a time asks
// Redis, after its subscription was acknowledged, and again at each message, each
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
	defer func() { _ = pubsub.Close() }() // it only says whether it was open
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

// holds tells whether the calling thread has the lock already.
func (l *Lock) holds(ctx context.Context) bool {
	count, err := l.HoldCount(ctx)
	return err == nil && count > 0
}

// receive turns what the subscription hears into wake-ups, until it is closed.
func (l *Lock) receive(pubsub *redis.PubSub, messages chan<- struct{}) {
	for {
		_, err := pubsub.Receive(context.Background())
		switch {
		case errors.Is(err, redis.ErrClosed):
			return
		case err != nil:
			time.Sleep(100 * time.Millisecond)
			_ = pubsub.Subscribe(context.Background(), l.channel) // Receive says what became of it
			continue
		}
		select {
		case messages <- struct{}{}:
		default:
		}
	}
}

package doc2

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// lockSubscribe is the page's LockSubscribe with its LockListener, for one channel, because
// a process needs only one here. The page does not say when the listener is registered. Here
// Redis acknowledges it before the first wait.
type lockSubscribe struct {
	registering chan struct{} // has an element while a listener is being registered
	pubsub      *redis.PubSub

	mu        sync.Mutex
	semaphore *semaphore // the entry of the MAP for the channel
}

// semaphore is a java.util.concurrent.Semaphore(0) that never gets more permits than
// waiting threads.
type semaphore struct{ permits chan struct{} }

// subscribe puts a semaphore into the MAP, unless there is one.
func (s *lockSubscribe) subscribe(ctx context.Context, rdb redis.UniversalClient, channel string) error {
	if err := s.listen(ctx, rdb, channel); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.semaphore == nil {
		s.semaphore = &semaphore{make(chan struct{})}
	}
	return nil
}

// unsubscribe removes the semaphore from the MAP.
func (s *lockSubscribe) unsubscribe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.semaphore = nil
}

// wait waits for a permit.
func (s *lockSubscribe) wait(ctx context.Context, timeout time.Duration) {
	s.mu.Lock()
	semaphore := s.semaphore
	s.mu.Unlock()
	if semaphore == nil {
		return
	}
	select {
	case <-semaphore.permits:
	case <-time.After(timeout):
	case <-ctx.Done():
	}
}

// release wakes all waiting threads: semaphore.release(getQueueLength()).
func (s *lockSubscribe) release() {
	s.mu.Lock()
	semaphore := s.semaphore
	s.mu.Unlock()
	for semaphore != nil {
		select {
		case semaphore.permits <- struct{}{}:
		default:
			return
		}
	}
}

// listen registers the listener, once.
func (s *lockSubscribe) listen(ctx context.Context, rdb redis.UniversalClient, channel string) error {
	select {
	case s.registering <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.registering }()
	if s.pubsub != nil {
		return nil
	}
	pubsub := rdb.Subscribe(context.WithoutCancel(ctx), channel)
	if _, err := pubsub.Receive(ctx); err != nil {
		return errors.Join(err, pubsub.Close())
	}
	s.pubsub = pubsub
	go func() {
		for {
			message, err := pubsub.Receive(context.Background())
			switch {
			case errors.Is(err, redis.ErrClosed):
				return
			case err != nil:
				time.Sleep(100 * time.Millisecond)
				continue
			}
			if m, is := message.(*redis.Message); is && m.Payload == "0" {
				s.release()
			}
		}
	}()
	return nil
}

// close ends the listener.
func (s *lockSubscribe) close() error {
	s.registering <- struct{}{}
	defer func() { <-s.registering }()
	if s.pubsub == nil {
		return nil
	}
	return s.pubsub.Close()
}

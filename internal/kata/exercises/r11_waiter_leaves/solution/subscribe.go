package mylock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// lockSubscribe is the page's LockSubscribe with its LockListener, for the one channel that
// a process needs here. The page does not say when the listener is registered: it is here
// before the first wait, and Redis has acknowledged it.
type lockSubscribe struct {
	registering chan struct{} // has an element while a listener is being registered
	pubsub      *redis.PubSub

	mu        sync.Mutex
	semaphore *semaphore // what the MAP has for the channel
	waiters   int        // who need it
}

// semaphore is a java.util.concurrent.Semaphore(0) that only ever gets as many permits as
// threads wait for one.
type semaphore struct{ permits chan struct{} }

// subscribe puts a semaphore into the MAP, unless there is one.
func (s *lockSubscribe) subscribe(ctx context.Context, rdb redis.UniversalClient, channel string) error {
	if err := s.listen(ctx, rdb, channel); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiters++; s.semaphore == nil {
		s.semaphore = &semaphore{make(chan struct{})}
	}
	return nil
}

// unsubscribe takes it out.
func (s *lockSubscribe) unsubscribe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiters--; s.waiters == 0 {
		s.semaphore = nil
	}
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

// release gives as many permits as threads wait: semaphore.release(getQueueLength()).
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

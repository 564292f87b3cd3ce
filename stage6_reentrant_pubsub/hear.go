package stage6

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// reconnectPause is how long to wait before subscribing anew, at first: a server
// that is away, or that refuses, is asked less and less often.
const reconnectPause = 50 * time.Millisecond

// listen has the service's one subscription take up the queue's channel.
func (s *Service) listen(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.listening || s.closed {
		return
	}
	q.listening = true
	channel := q.mutex.channel
	s.channels[channel] = append(s.channels[channel], q)
	if s.sub == nil {
		s.open()
		return
	}
	sub := s.sub
	s.tasks.Go(func() { s.subscribe(sub, channel) })
}

// open begins to hear what the service listens for, on a connection of its own. s.mu is held.
func (s *Service) open() {
	sub, channels := s.rdb.Subscribe(s.ctx), slices.Collect(maps.Keys(s.channels))
	s.sub = sub
	s.tasks.Go(func() {
		defer context.AfterFunc(s.ctx, func() { _ = sub.Close() })() // ends the wait for a message
		for _, channel := range channels {
			s.subscribe(sub, channel)
		}
		s.hear(sub)
		_ = sub.Close()
	})
}

// subscribe asks for a channel until the command has gone out. The answer comes as a message.
func (s *Service) subscribe(sub *redis.PubSub, channel string) {
	for wait := reconnectPause; ; wait = min(2*wait, s.lease/3) {
		err := sub.Subscribe(s.ctx, channel)
		if err == nil || errors.Is(err, redis.ErrClosed) {
			return
		}
		s.logger.Warn("waiting without messages", "channel", channel, "error", err)
		if !pause(s.ctx, wait) {
			return
		}
	}
}

// hear wakes queues for every message, and for every acknowledgement of a subscription:
// what was published before it was not heard. go-redis connects and subscribes again by
// itself. It returns when the subscription is closed.
func (s *Service) hear(sub *redis.PubSub) {
	for wait := reconnectPause; ; wait = min(2*wait, s.lease/3) {
		message, err := sub.Receive(s.ctx)
		for ; err == nil; message, err = sub.Receive(s.ctx) {
			wait = reconnectPause
			switch m := message.(type) {
			case *redis.Subscription:
				s.acknowledged(sub, m)
			case *redis.Message:
				s.wake(m.Channel, false)
			}
		}
		if errors.Is(err, redis.ErrClosed) || s.isClosed() {
			return
		}
		s.logger.Warn("waiting without messages", "error", err)
		if !isAnswer(err) {
			pause(s.ctx, wait)
			continue
		}
		s.start(func() { // a channel was refused; the others are heard meanwhile
			if pause(s.ctx, wait) {
				s.askAgain(sub)
			}
		})
	}
}

// acknowledged wakes whoever waits for a channel that is heard from now on. One that was let
// go while somebody came for it is asked for again.
func (s *Service) acknowledged(sub *redis.PubSub, m *redis.Subscription) {
	if wanted := s.wake(m.Channel, true); wanted && m.Kind == "unsubscribe" {
		s.start(func() { s.subscribe(sub, m.Channel) })
	}
}

// wake wakes the queues of a channel, and tells whether there is one.
func (s *Service) wake(channel string, heard bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.channels[channel] {
		q.heard = q.heard || heard
		q.signal()
	}
	return len(s.channels[channel]) > 0
}

// askAgain asks for the channels that Redis has not acknowledged.
func (s *Service) askAgain(sub *redis.PubSub) {
	s.mu.Lock()
	var refused []string
	for channel, queues := range s.channels {
		if !queues[0].heard {
			refused = append(refused, channel)
		}
	}
	s.mu.Unlock()
	for _, channel := range refused {
		s.subscribe(sub, channel)
	}
}

// distrust makes the connection anew after a lock was free and no message said so: it may
// lead nowhere.
func (s *Service) distrust(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !q.heard || s.sub == nil || s.closed {
		return
	}
	for _, queues := range s.channels {
		for _, q := range queues {
			q.heard = false
		}
	}
	old := s.sub
	s.tasks.Go(func() { _ = old.Close() })
	s.open()
}

// forget ends the subscription of a queue in which nobody has waited for a while, and the
// connection with the last one.
func (s *Service) forget(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.waiting > 0 || s.closed || s.queues[q.mutex.key] != q {
		return
	}
	delete(s.queues, q.mutex.key)
	channel := q.mutex.channel
	s.channels[channel] = slices.DeleteFunc(s.channels[channel], func(other *waitQueue) bool { return other == q })
	if len(s.channels[channel]) > 0 {
		return
	}
	delete(s.channels, channel)
	sub := s.sub
	if len(s.channels) > 0 {
		s.tasks.Go(func() { _ = sub.Unsubscribe(s.ctx, channel) })
		return
	}
	s.sub = nil
	s.tasks.Go(func() { _ = sub.Close() })
}

package stage6

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// listen has the service's one subscription take up the queue's channel, and tells when to
// look again: when the holder's lease may be over, or to ask once more for a channel that Redis
// has not acknowledged, perhaps because it refused.
func (s *Service) listen(q *waitQueue) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.heard || s.isClosed() {
		return q.again
	}
	if now := time.Now(); !now.Before(q.ask) {
		q.ask = now.Add(s.lease / 6)
		sub, begin := s.sub, s.sub == nil
		if begin {
			sub = s.rdb.Subscribe(s.ctx) // it has no connection yet
			s.sub = sub
		}
		s.tasks.Go(func() {
			if err := sub.Subscribe(s.ctx, q.mutex.channel); err != nil { // go-redis asks again when it has connected
				s.logger.Warn("waiting without messages", "name", q.mutex.name, "error", err)
			}
			if begin {
				s.hear(sub)
			}
		})
	}
	if q.ask.Before(q.again) {
		return q.ask
	}
	return q.again
}

// hear wakes queues for every message, and for every acknowledgement of a subscription: what
// was published before it was not heard. go-redis connects and subscribes again by itself.
func (s *Service) hear(sub *redis.PubSub) {
	defer s.wake("", false)
	defer context.AfterFunc(s.ctx, func() { _ = sub.Close() })() // ends the wait for a message
	for {
		message, err := sub.Receive(s.ctx)
		switch m := message.(type) {
		case *redis.Message:
			s.wake(m.Channel, true)
		case *redis.Subscription: // or the end of one: somebody may have come for it since
			s.wake(m.Channel, m.Kind == "subscribe")
		default:
			if errors.Is(err, redis.ErrClosed) || s.isClosed() {
				return
			}
			s.logger.Warn("waiting without messages", "error", err)
			pause(s.ctx, passingPause)
		}
	}
}

// wake wakes the queues of a channel, or of all for "", and notes whether they are heard.
func (s *Service) wake(channel string, heard bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues { // names may share a channel
		if channel == "" || channel == q.mutex.channel {
			if q.heard || heard {
				q.signal()
			}
			q.heard = heard
		}
	}
}

// distrust ends a subscription that did not say that the lock is free: its connection may lead
// nowhere. Those who relied on it look for themselves, and listen anew.
func (s *Service) distrust(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.heard {
		s.hangUp()
	}
}

// hangUp ends the subscription. s.mu is held.
func (s *Service) hangUp() {
	if sub := s.sub; sub != nil {
		s.sub = nil
		s.tasks.Go(func() { _ = sub.Close() })
	}
}

// forget ends the subscription of a queue in which nobody has waited for a while, and the
// connection with the last one.
func (s *Service) forget(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.waiting > 0 || s.isClosed() || s.queues[q.mutex.key] != q {
		return
	}
	delete(s.queues, q.mutex.key)
	if len(s.queues) == 0 {
		s.hangUp()
	} else if sub := s.sub; sub != nil {
		s.tasks.Go(func() { _ = sub.Unsubscribe(s.ctx, q.mutex.channel) })
	}
}

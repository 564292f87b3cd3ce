package stage6

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// lookAgain makes the queue wake up for every message, and at the given time, when the current holder's lease
// may have ended. It adds the queue's channel to the service's one subscription. Until Redis has acknowledged
// that (it may have refused it), the queue tries the lock and subscribes again every sixth of s.short().
func (s *Service) lookAgain(q *waitQueue, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub := s.sub; q.silent && sub != nil && s.pinged.UnixNano() <= s.received.Load() { // Redis may have a message, and the connection be dead
		s.pinged = time.Now()
		s.tasks.Go(func() { _ = sub.Ping(s.ctx) })
	}
	q.again, q.silent = at, false
	if soon := time.Now().Add(s.short() / 6); !q.heard && soon.Before(at) {
		at = soon
	}
	if !q.heard && q.asking.CompareAndSwap(false, true) {
		q.asked = time.Now()
		begin := s.sub == nil
		if begin {
			s.sub = s.rdb.Subscribe(s.ctx) // it has no connection yet
		}
		sub := s.sub
		s.tasks.Go(func() {
			_ = sub.Subscribe(s.ctx, q.mutex.channel) // hear logs why it fails, and go-redis subscribes again when it has connected
			q.asking.Store(false)
			if begin {
				s.hear(sub)
			}
		})
	}
	if q.timer != nil {
		q.timer.Stop()
	} else { // it has not waited before
		s.channels[q.mutex.channel] = append(s.channels[q.mutex.channel], q)
	}
	q.timer = time.AfterFunc(time.Until(at), func() { s.tick(q) })
}

// tick wakes a queue whose holder's lease may have ended. If the connection has received nothing
// since the queue subscribed, or since a ping, and has not broken, it is dead: tick closes it, and
// the next lookAgain opens another one. If the queue has no waiters tick unsubscribes its channel, and
// closes the connection with the last queue.
func (s *Service) tick(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isClosed() || s.queues[q.mutex.key] != q:
	case q.waiting > 0:
		asked := s.pinged
		if !q.heard && !q.asking.Load() {
			asked = q.asked
		}
		if asked.UnixNano() > s.received.Load() && time.Since(asked) > s.short()/12 {
			s.hangUp()
		}
		q.silent = q.heard
		q.signal()
	default:
		s.forget(q)
		if len(s.queues) == 0 {
			s.hangUp()
		} else if sub := s.sub; sub != nil {
			s.tasks.Go(func() { _ = sub.Unsubscribe(s.ctx, q.mutex.channel) })
		}
	}
}

// hear wakes queues for every message, and for every acknowledgement of a subscription, since
// messages published before it were missed. go-redis connects and subscribes again by itself,
// but does not check whether Redis refuses.
func (s *Service) hear(sub *redis.PubSub) {
	defer s.wake("", false)
	defer context.AfterFunc(s.ctx, func() { _ = sub.Close() })() // ends the wait for a message

	broken := false      // the connection broke, and Redis has acknowledged nothing since
	var warned time.Time // when that was last logged
	for {
		message, err := sub.Receive(s.ctx)
		s.received.Store(time.Now().UnixNano())
		switch m := message.(type) {
		case *redis.Message:
			s.wake(m.Channel, true)
		case *redis.Subscription: // or an unsubscription: there may be a new waiter since
			broken, warned = false, time.Time{}
			s.wake(m.Channel, m.Kind == "subscribe")
		case *redis.Pong:
		default:
			if errors.Is(err, redis.ErrClosed) || s.isClosed() {
				return
			}
			if time.Since(warned) >= s.lease {
				warned = time.Now()
				s.logger.Warn("waiting without messages", "error", err)
			}
			if broken {
				s.wake("", false)
			}
			broken = broken || !isRefusal(err)
			pause(s.ctx, passingPause)
		}
	}
}

// wake wakes the queues of a channel, or all queues for "", and records whether Redis has acknowledged their subscription.
func (s *Service) wake(channel string, heard bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queues := slices.Values(s.channels[channel]) // names may share a channel
	if channel == "" {
		queues = maps.Values(s.queues)
	}
	for q := range queues {
		if q.heard || heard {
			q.signal()
		}
		q.heard, q.silent = heard, false
	}
}

// hangUp closes the subscription. The caller holds s.mu.
func (s *Service) hangUp() {
	if sub := s.sub; sub != nil {
		s.sub = nil
		s.tasks.Go(func() { _ = sub.Close() })
	}
}

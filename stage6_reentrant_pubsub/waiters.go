package stage6

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// waitQueue holds the callers of one process that wait for the same lock. The first
// one talks to Redis, the others wait for its place. A wake-up goes to the queue and
// not to a waiter, so that it is not lost when a waiter leaves.
type waitQueue struct {
	mutex *Mutex
	first chan struct{} // capacity 1, full while there is a first one; Go serves senders in order
	wake  chan struct{} // capacity 1: the lock may be free

	// Used by the first one only.
	failure error         // the error of an attempt without an answer
	failed  int64         // callers up to this place return it
	pause   time.Duration // after the last attempt without an answer; 0: Redis has answered

	entered    atomic.Int64 // callers since the queue was last empty
	held       atomic.Bool  // Redis has reported the lock as held since then
	unanswered atomic.Bool  // but its last attempt does not know

	// Guarded by Service.mu.
	waiting  int
	hearing  hearing     // state of its channel in the subscription
	messages int         // number of messages that it got
	silent   bool        // it was last woken without one
	again    time.Time   // when the current holder's lease may have ended
	askAt    time.Time   // when to look at the lock; zero: the queue is awake
	timer    *time.Timer // wakes the first one at again, or ends the subscription a while after the last one left
}

// wait waits for the lock until patience ends, with ctx at the latest. Without patience it
// makes one attempt. Attempts run with ctx, so that the end of patience does not cancel one.
func (m *Mutex) wait(ctx, patience context.Context, r request) (won *ownership, err error) {
	if patience == nil {
		won, _, err = m.attempt(ctx, r)
		return won, err
	}
	s := m.svc
	q, place := s.enter(m)
	defer s.leave(q)
	var last error // why there is no hold yet
	select {
	case q.first <- struct{}{}:
		defer func() { <-q.first }()
		if place <= q.failed {
			return nil, q.failure
		}
		if q.held.Load() { // the lock may become free without a message
			s.sleepUntil(q, time.Time{})
		}
		for q.isWoken(patience) {
			var goesOn bool
			if won, goesOn, last = q.try(ctx, r); !goesOn {
				return won, last
			}
		}
	case <-patience.Done():
	case <-s.ctx.Done():
	}
	if last == nil && place > 1 {
		if last = ErrUnanswered; q.held.Load() && !q.unanswered.Load() {
			last = ErrLocked
		}
	}
	switch {
	case s.isClosed():
		return nil, ErrClosed
	case last == nil: // patience ended before the first attempt: make one nevertheless
		won, _, err = m.attempt(ctx, r)
		return won, err
	case ctx.Err() == nil: // only patience has ended
		return nil, last
	case last == ErrLocked: // not wrapped: ErrLocked is for callers that wait for a limited time
		return nil, fmt.Errorf("stage6: wait for %s: %w; the last attempt: %v", m.key, ctx.Err(), last)
	default:
		return nil, fmt.Errorf("stage6: wait for %s: %w; the last attempt: %w", m.key, ctx.Err(), last)
	}
}

// isWoken waits until the lock may be free. It returns false if patience or the service has ended:
// then the next one has to ask.
func (q *waitQueue) isWoken(patience context.Context) bool {
	s := q.mutex.svc
	select {
	case <-q.wake:
	case <-patience.Done():
	case <-s.ctx.Done():
	}
	if patience.Err() == nil && !s.isClosed() {
		return true
	}
	q.signal()
	return false
}

// try makes one attempt, which lasts for a lease at most while the lock is held. Without the lock it
// returns the reason, and whether the wait goes on: if another owner holds the lock, if the error is
// temporary, if the connection was closed (an idle one may be dead, or the server full), or if there was no
// answer after Redis had answered that the lock is held. Any other attempt without an answer also ends the
// wait of all callers that had come when it began.
func (q *waitQueue) try(ctx context.Context, r request) (o *ownership, goesOn bool, err error) {
	s, held, entered := q.mutex.svc, q.held.Load(), q.entered.Load()
	asked, cancel := ctx, func() {}
	if held || q.pause > 0 { // an idle connection may be dead, and a grant after the lease is useless
		asked, cancel = context.WithTimeout(ctx, min(r.lease, s.lease))
	}
	o, left, err := q.mutex.attempt(asked, r)
	cancel()
	q.unanswered.Store(err != nil && err != ErrLocked)
	if err == nil || isRefusal(err) || err == ErrLocked {
		q.pause = 0
	}
	switch {
	case err == nil:
		q.held.Store(true)
		s.mu.Lock()
		q.again = afterLease(min(o.lease, s.lease)) // its key may disappear without a message
		if q.silent {
			q.hearing = unheard // Redis may have forgotten the subscription: the next waiter subscribes again
		}
		s.mu.Unlock()
		return o, false, nil
	case err == ErrLocked:
		q.held.Store(true)
		s.sleepUntil(q, afterLease(left))
		return nil, true, err
	case isTemporary(err) && (s.isCluster || !isMoved(err)) || (held || isHungUp(err)) && !isRefusal(err) && !errors.Is(err, redis.ErrClosed) && ended(ctx) == nil:
		s.warn("still waiting", "name", q.mutex.name, "error", err)
		wait := s.short() / 60
		if !isRefusal(err) { // each attempt may open a connection
			q.pause = min(max(wait, 2*q.pause), s.short()/6)
			wait = q.pause
		}
		s.sleepUntil(q, afterLease(wait))
		return nil, true, err
	case !isRefusal(err) && !errors.Is(err, errLate) && ended(ctx) == nil: // the next callers would fail as well
		q.failure, q.failed = err, entered
	}
	q.signal() // the next one has to ask for itself
	return nil, false, err
}

// signal wakes the first one, or the next caller to become the first.
func (q *waitQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// enter adds the caller to the lock's queue in this process, and returns its place. The first
// caller asks Redis at once.
func (s *Service) enter(m *Mutex) (q *waitQueue, place int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q = s.queues[m.key]
	if q == nil {
		if q = s.spare; q == nil {
			q = &waitQueue{first: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
		}
		q.mutex, s.spare, s.queues[m.key] = m, nil, q
	}
	if q.waiting == 0 {
		q.failed, q.pause = 0, 0
		q.entered.Store(0)
		q.held.Store(false)
		q.signal()
	}
	q.waiting++
	return q, q.entered.Add(1)
}

// leave removes the caller from the queue. The subscription lasts for some seconds after the last
// waiter, so that a process that takes turns with others does not subscribe for each turn.
func (s *Service) leave(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.waiting--
	switch {
	case q.waiting > 0:
	case q.timer == nil: // there was no need to subscribe
		s.forget(q)
		*q = waitQueue{first: q.first, wake: q.wake} // its state must not count for another name
		s.spare = q
	default:
		q.askAt = time.Time{}
		q.timer.Reset(min(s.lease, 5*time.Second))
	}
}

// forget removes a queue without waiters. The caller holds s.mu.
func (s *Service) forget(q *waitQueue) {
	m := q.mutex
	delete(s.queues, m.key)
	s.channels[m.channel] = slices.DeleteFunc(s.channels[m.channel], func(other *waitQueue) bool { return other == q })
	if len(s.channels[m.channel]) == 0 {
		delete(s.channels, m.channel)
	}
}

// short returns the lease, but at most a minute. The pauses before asking again are fractions of
// it, so that waiters with a long lease do not sleep long while the lock is free.
func (s *Service) short() time.Duration { return min(s.lease, time.Minute) }

// afterLease returns when a lease with that much time left has ended. Redis expires a key
// just after its time.
func afterLease(left time.Duration) time.Time {
	return time.Now().Add(left).Add(time.Millisecond) // their sum may be too long for a Duration
}

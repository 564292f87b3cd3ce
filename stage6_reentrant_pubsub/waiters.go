package stage6

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// waitQueue is where those of one process wait who want the same lock. The first one
// talks to Redis, the others wait for its place. What wakes up wakes the queue, so
// that a waiter who leaves takes no wake-up along.
type waitQueue struct {
	mutex *Mutex
	first chan struct{} // capacity 1, full while there is a first one. Go serves those who send in order
	wake  chan struct{} // capacity 1: the lock may be free

	// The first one's.
	again   time.Time // when the lease of the present holder may be over
	failure error     // of an attempt that had no answer, for those who waited when it began:
	failed  int32     // so many had come

	entered atomic.Int32 // callers since the queue was last empty
	held    atomic.Bool  // Redis has reported the lock as held since then
	asking  atomic.Bool  // a subscription is on its way out, perhaps for as long as a connection takes

	// Guarded by Service.mu.
	waiting int
	heard   bool        // Redis has acknowledged the subscription
	asked   time.Time   // when the subscription was last asked for
	timer   *time.Timer // wakes the first one, or ends the subscription when nobody has waited for a while
	silent  bool        // the timer was faster than any message
}

// wait waits for the lock until patience, which ends with ctx at the latest, is
// over. Attempts have ctx: an impatient caller does not break one off; behind a holder they
// last for a lease at most. An attempt that fails ends the wait, unless the failure is
// temporary; once Redis has said that the lock is held, a broken connection is, too. One that fails
// without an answer ends the wait of all who had come when it began. Without patience there is one
// attempt.
func (m *Mutex) wait(ctx, patience context.Context, r request) (won *ownership, err error) {
	if patience == nil {
		won, _, err = m.attempt(ctx, r)
		return won, err
	}
	s := m.svc
	q, place := s.enter(m)
	defer func() { s.leave(q, won != nil) }()
	var last error // why there is no hold yet
	over := func() (*ownership, error) {
		if last == nil && place > 1 {
			if last = ErrUnanswered; q.held.Load() {
				last = ErrLocked
			}
		}
		switch {
		case s.isClosed():
			return nil, ErrClosed
		case last == nil: // a very short patience: there is one attempt all the same
			won, _, err = m.attempt(ctx, r)
			return won, err
		case ctx.Err() == nil: // the caller has time, but does not want to wait longer
			return nil, last
		case last == ErrLocked: // but no ErrLocked: that is for those who wait for a limited time
			return nil, fmt.Errorf("stage6: wait for %s: %w; the last attempt: %v", m.key, ctx.Err(), last)
		default:
			return nil, fmt.Errorf("stage6: wait for %s: %w; the last attempt: %w", m.key, ctx.Err(), last)
		}
	}
	select {
	case q.first <- struct{}{}:
		defer func() { <-q.first }()
	case <-patience.Done():
		return over()
	case <-s.ctx.Done():
		return over()
	}
	if place <= q.failed {
		return nil, q.failure
	}
	if q.held.Load() { // the one before may have gone without a word
		s.lookAgain(q, q.again)
	}
	for {
		select {
		case <-q.wake:
		case <-patience.Done():
		case <-s.ctx.Done():
		}
		if patience.Err() != nil || s.isClosed() { // rather than ask for somebody who has gone
			q.signal()
			return over()
		}
		held, asked, cancel := q.held.Load(), ctx, func() {}
		if held { // a connection that was idle may lead nowhere, and a later answer grants nothing
			asked, cancel = context.WithTimeout(ctx, min(r.lease, s.lease))
		}
		entered := q.entered.Load()
		o, left, err := m.attempt(asked, r)
		cancel()
		switch {
		case err == nil:
			q.held.Store(true)
			q.again = afterLease(min(o.lease, s.lease)) // its key may go without a message
			return o, nil
		case err == ErrLocked:
			q.held.Store(true)
			s.lookAgain(q, afterLease(left))
		case isTemporary(err) || held && !isRefusal(err) && !errors.Is(err, redis.ErrClosed) && ended(ctx) == nil:
			s.lookAgain(q, afterLease(s.short()/60))
		default:
			if !isRefusal(err) && !errors.Is(err, errLate) && ended(ctx) == nil { // the next one would fail as well
				q.failure, q.failed = err, entered
			}
			q.signal() // the next one has to look for itself
			return nil, err
		}
		last = err
	}
}

// signal wakes the first one, or whoever will be.
func (q *waitQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// enter joins those who wait for the lock in this process. It returns the caller's place among
// them. The first one looks at once.
func (s *Service) enter(m *Mutex) (q *waitQueue, place int32) {
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
		q.failed = 0
		q.entered.Store(0)
		q.held.Store(false)
		q.signal()
	}
	q.waiting++
	return q, q.entered.Add(1)
}

// leave goes, with the lock or without. Where no message said that the lock is free the queue
// subscribes anew before it waits again: Redis may not know of the subscription any more. The
// subscription outlives the last waiter by a lease: a process that takes turns with others would
// subscribe for each turn.
func (s *Service) leave(q *waitQueue, won bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.waiting--
	q.heard = q.heard && !(won && q.silent)
	switch {
	case q.waiting > 0:
	case q.timer == nil: // nobody listened
		delete(s.queues, q.mutex.key)
		*q = waitQueue{first: q.first, wake: q.wake} // what it has heard does not count for another name
		s.spare = q
	default:
		q.timer.Reset(s.lease)
	}
}

// short is the lease, and a minute at most: from it comes how soon to ask again where there was no
// answer, or may be no message. A lease of a day should keep nobody beside a free lock.
func (s *Service) short() time.Duration { return min(s.lease, time.Minute) }

// afterLease is when a lease that lasts so much longer is over. Redis lets a key expire just
// after its time.
func afterLease(left time.Duration) time.Time {
	return time.Now().Add(left).Add(time.Millisecond) // their sum may be too long for a Duration
}

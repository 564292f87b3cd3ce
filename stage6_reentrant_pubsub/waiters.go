package stage6

import (
	"context"
	"errors"
	"fmt"
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
	again time.Time     // when the lease of the present holder may be over. It is the first one's

	// Guarded by Service.mu.
	waiting int
	ask     time.Time   // when to ask for the channel again; zero: nobody has asked yet
	heard   bool        // Redis has acknowledged it
	idle    *time.Timer // ends the subscription when nobody has waited for a while
}

// wait waits for the lock until patience, which ends with ctx at the latest, is
// over. Attempts have ctx: an impatient caller does not break one off. An attempt that
// fails ends the wait, unless the failure will pass; once Redis has said that the lock is
// held, so will a broken connection.
func (m *Mutex) wait(ctx, patience context.Context, r request) (*ownership, error) {
	s := m.svc
	q, refused := s.enter(m)
	defer s.leave(q)
	last := ErrLocked // why there is no hold yet
	over := func() error {
		switch {
		case s.isClosed():
			return ErrClosed
		case last != ErrLocked:
			return fmt.Errorf("stage6: wait for %s: %w; the last attempt: %w", m.key, patience.Err(), last)
		case ctx.Err() == nil:
			return ErrLocked
		default: // no ErrLocked: that is for those who wait for a limited time
			return fmt.Errorf("stage6: wait for %s: %w; the last attempt: %v", m.key, patience.Err(), last)
		}
	}
	select {
	case q.first <- struct{}{}:
		defer func() { <-q.first }()
	case <-patience.Done():
		return nil, over()
	case <-s.ctx.Done():
		return nil, over()
	}
	for {
		told := q.sleep(patience)
		if patience.Err() != nil || s.isClosed() { // rather than ask for somebody who has gone
			q.signal()
			return nil, over()
		}
		o, left, err := m.attempt(ctx, r)
		switch {
		case err == nil:
			q.lookAgain(min(o.lease, s.lease)) // its key may go without a message
			if !told {
				s.distrust(q)
			}
			return o, nil
		case err == ErrLocked:
			refused = true
			q.lookAgain(left)
		case isPassing(err) || refused && !isAnswer(err) && !errors.Is(err, redis.ErrClosed):
			q.lookAgain(s.lease / 60)
		default:
			q.signal() // the next one has to look for itself
			return nil, err
		}
		last = err
	}
}

// sleep listens, and waits until an attempt is worth a command: something woke the queue,
// which is told then, or the present holder's lease may be over.
func (q *waitQueue) sleep(patience context.Context) (told bool) {
	s := q.mutex.svc
	for {
		select { // first of all: who was told need not distrust the subscription
		case <-q.wake:
			return true
		default:
		}
		select {
		case <-q.wake:
			return true
		case <-patience.Done():
			return false
		case <-s.ctx.Done():
			return false
		case <-time.After(time.Until(s.listen(q))):
			if !time.Now().Before(q.again) {
				return false
			}
		}
	}
}

// signal wakes the first one, or whoever will be.
func (q *waitQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// lookAgain says when the lease of the present holder may be over. Redis lets a key
// expire just after its time.
func (q *waitQueue) lookAgain(left time.Duration) {
	q.again = time.Now().Add(left).Add(time.Millisecond) // their sum may be too long for a Duration
}

// enter joins those who wait for the lock in this process. Who finds nobody before it looks
// at once; behind others the lock is held.
func (s *Service) enter(m *Mutex) (q *waitQueue, others bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q = s.queues[m.key]
	if q == nil {
		q = &waitQueue{mutex: m, first: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
		s.queues[m.key] = q
	}
	if others = q.waiting > 0; !others {
		q.signal()
	}
	if q.idle != nil {
		q.idle.Stop()
	}
	q.waiting++
	return q, others
}

// leave goes, whether with the lock or without. The subscription outlives the last one by a
// lease: whoever takes turns with other processes would else subscribe for each turn.
func (s *Service) leave(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.waiting--
	switch {
	case q.waiting > 0:
	case q.ask.IsZero():
		delete(s.queues, q.mutex.key)
	default:
		q.idle = time.AfterFunc(s.lease, func() { s.forget(q) })
	}
}

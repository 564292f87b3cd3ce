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
	waiting   int
	listening bool        // only the first one changes it: the service's subscription has the channel, or soon will
	heard     bool        // Redis has acknowledged it
	idle      *time.Timer // ends the subscription when nobody has waited for a while
}

// waitError is the end of somebody's patience while they waited.
type waitError struct {
	key   string
	cause error // the error of the context that ended the wait
	last  error // why the last attempt came to nothing; nil: somebody else held the lock
}

// Error names the lock, what ended the wait, and whether Redis had refused or was silent.
func (e waitError) Error() string {
	why := ErrLocked
	if e.last != nil {
		why = e.last
	}
	return fmt.Sprintf("stage6: wait for %s: %v; the last attempt: %v", e.key, e.cause, why)
}

// Unwrap is both errors.
func (e waitError) Unwrap() []error { return []error{e.cause, e.last} }

// wait waits for the lock until patience, which ends with ctx at the latest, is
// over. Attempts have ctx: an impatient caller does not break one off. An attempt that
// fails ends the wait, unless the failure will pass; once Redis has said that the lock is
// held, so will a broken connection.
func (m *Mutex) wait(ctx, patience context.Context, r request) (*ownership, error) {
	s := m.svc
	q, refused := s.enter(m)
	defer s.leave(q)
	var last error
	over := func() error { return waitError{m.key, patience.Err(), last} }
	select {
	case q.first <- struct{}{}:
		defer func() { <-q.first }()
	case <-patience.Done():
		return nil, over()
	case <-s.ctx.Done():
		return nil, ErrClosed
	}
	for late := 1; ; {
		told, err := q.sleep(patience)
		if err != nil {
			return nil, err
		}
		if patience.Err() != nil { // rather than ask for somebody who has gone
			q.signal()
			return nil, over()
		}
		o, left, err := m.attempt(ctx, r)
		switch {
		case o != nil:
			if q.listening { // else the next one has to look at once
				q.lookAgain(min(o.lease, s.lease)) // its key may go without a message
			}
			if !told {
				s.distrust(q)
			}
			return o, nil
		case err == nil:
			refused = true
			q.lookAgain(left)
			s.listen(q)
		case errors.As(err, new(lateError)) && late < attempts: // it may have been a moment
			late++
			q.signal()
		case isPassing(err) || refused && !isAnswer(err) && !errors.Is(err, redis.ErrClosed) && ended(ctx) == nil && !s.isClosed():
			q.lookAgain(s.lease / 60)
		default:
			q.signal() // the next one has to look for itself
			return nil, err
		}
		last = err
	}
}

// sleep waits until an attempt is worth a command: something woke the queue, which is told
// then, or the present holder's lease may be over.
func (q *waitQueue) sleep(patience context.Context) (told bool, err error) {
	select {
	case <-q.wake:
		return true, nil
	default:
	}
	timer := time.NewTimer(time.Until(q.again))
	defer timer.Stop()
	select {
	case <-q.wake:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-patience.Done():
		return false, nil
	case <-q.mutex.svc.ctx.Done():
		return false, ErrClosed
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
	case q.listening:
		q.idle = time.AfterFunc(s.lease, func() { s.forget(q) })
	default:
		delete(s.queues, q.mutex.key)
	}
}

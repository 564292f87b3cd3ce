package stage6

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// room is where those of one process wait who want the same lock. The first one
// talks to Redis, the others queue for his place. What wakes up wakes the room, so
// that a waiter who leaves takes no wake-up with him.
type room struct {
	mutex *Mutex

	mu      sync.Mutex
	queue   []place   // of those behind the first
	again   time.Time // when the lease of the present holder may be over
	hearing bool      // a subscription has been asked for

	// Made when the room begins to listen: nobody wakes it before.
	wake chan struct{} // capacity 1: the lock may be free
	stop context.CancelFunc
}

// place is that of one Lock in the queue. It is closed when he is the first; nil for
// him who was the first when he came.
type place chan struct{}

// waitError is the end of somebody's patience while he waited.
type waitError struct {
	key   string
	cause error
}

// Error names the lock and what ended the wait.
func (e waitError) Error() string { return fmt.Sprintf("stage6: wait for %s: %v", e.key, e.cause) }

// Unwrap is the error of the context that ended the wait.
func (e waitError) Unwrap() error { return e.cause }

// wait waits for the lock until patience, which ends with ctx at the latest, is
// over. Attempts have ctx: an impatient caller does not break one off.
func (m *Mutex) wait(ctx, patience context.Context, r request) (*ownership, error) {
	room, place := m.svc.enter(m)
	defer m.svc.leave(room, place)
	if place != nil {
		select {
		case <-place:
		case <-patience.Done():
			return nil, waitError{m.key, patience.Err()}
		case <-m.svc.ctx.Done():
			return nil, ErrClosed
		}
	}
	for late := 1; ; {
		if patience.Err() != nil { // rather than ask for somebody who has gone
			return nil, waitError{m.key, patience.Err()}
		}
		if look, told := room.mayBeFree(); look {
			o, left, err := m.attempt(ctx, r)
			if err != nil && isPassing(err) { // a waiter has the time
				left, err = passingPause, nil
			}
			if errors.As(err, new(lateError)) && late < attempts { // it may have been a moment
				late++
				continue
			}
			if err != nil {
				room.signal() // the next one has to look for himself
				return nil, err
			}
			if o != nil {
				room.lookAgain(min(o.lease, m.svc.lease)) // its key may go without a message
				if !told {
					room.dropSubscription()
				}
				return o, nil
			}
			room.lookAgain(left)
			room.listen()
		}
		if err := room.sleep(patience); err != nil {
			return nil, err
		}
	}
}

// enter joins those who wait for the lock in this process.
func (s *Service) enter(m *Mutex) (*room, place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[m.key]
	if r == nil {
		r = &room{mutex: m}
		s.rooms[m.key] = r
		return r, nil
	}
	last := make(place)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, last)
	return r, last
}

// leave goes, whether with the lock or without, and makes the next one the first.
func (s *Service) leave(r *room, left place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := slices.Index(r.queue, left); at >= 0 {
		r.queue = slices.Delete(r.queue, at, at+1)
		return
	}
	if len(r.queue) > 0 { // the first one leaves
		close(r.queue[0])
		r.queue = slices.Delete(r.queue, 0, 1)
		return
	}
	delete(s.rooms, r.mutex.key)
	if r.stop != nil {
		r.stop()
	}
}

// mayBeFree tells whether an attempt is worth a command: something woke the room,
// which is told then; nobody here listens yet, or the present holder's lease may be
// over.
func (r *room) mayBeFree() (look, told bool) {
	select {
	case <-r.wake:
		return true, true
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.hearing || !time.Now().Before(r.again), false
}

// dropSubscription ends a subscription that did not tell that the lock was free: its
// connection may lead nowhere. Who is the first next asks for another.
func (r *room) dropSubscription() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop()
		r.stop, r.hearing = nil, false
	}
}

// lookAgain says when the lease of the present holder may be over. Redis lets a key
// expire just after its time.
func (r *room) lookAgain(left time.Duration) {
	r.mu.Lock()
	r.again = time.Now().Add(left).Add(time.Millisecond) // their sum may be too long for a Duration
	r.mu.Unlock()
}

// signal wakes the first one, or him who will be.
func (r *room) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// sleep waits until an attempt is worth it again.
func (r *room) sleep(patience context.Context) error {
	r.mu.Lock()
	left := time.Until(r.again)
	r.mu.Unlock()
	timer := time.NewTimer(max(left, 0))
	defer timer.Stop()
	select {
	case <-r.wake:
		r.signal() // mayBeFree takes it
		return nil
	case <-timer.C:
		return nil
	case <-patience.Done():
		return waitError{r.mutex.key, patience.Err()}
	case <-r.mutex.svc.ctx.Done():
		return ErrClosed
	}
}

// listen subscribes to the lock's channel, once for all who wait here.
func (r *room) listen() {
	r.mu.Lock()
	if r.hearing {
		r.mu.Unlock()
		return
	}
	ctx, stop := context.WithCancel(r.mutex.svc.ctx)
	r.hearing, r.stop = true, stop // the last one who leaves stops it; the caller has not left yet
	if r.wake == nil {
		r.wake = make(chan struct{}, 1)
	}
	r.mu.Unlock()
	r.mutex.svc.start(func() { r.hear(ctx) })
}

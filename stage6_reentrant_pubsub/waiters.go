package stage6

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// room is where those of one process wait who want the same lock. They queue: the
// first one talks to Redis, the others wait for its place. What wakes up wakes the
// room, so that a waiter who leaves takes no wake-up with him.
type room struct {
	mutex *Mutex
	id    string // no other room ever has it

	mu      sync.Mutex
	queue   []*waiter
	again   time.Time // when the lease of the present holder may be over
	hearing bool      // a subscription has been asked for
	known   bool      // Redis may know that this room waits; only with directed wake-ups

	wake   chan struct{} // capacity 1: the lock may be free
	sooner chan struct{} // capacity 1: again has come nearer
	stop   context.CancelFunc
}

// waiter is one Lock that waits.
type waiter struct{ first chan struct{} } // closed when it is the first of its queue

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
	room, me := m.svc.enter(m)
	defer m.svc.leave(room, me)
	select {
	case <-me.first:
	case <-patience.Done():
		return nil, waitError{m.key, patience.Err()}
	case <-m.svc.ctx.Done():
		return nil, ErrClosed
	}
	for {
		if look, told := room.mayBeFree(); look {
			o, left, err := m.attempt(ctx, r, room)
			if isPassing(err) { // a waiter has the time
				left, err = tryAgainTimes*tryAgainPause, nil
			}
			if err != nil {
				room.signal() // the next one has to look for himself
				return nil, err
			}
			if o != nil {
				room.lookAgain(o.lease)
				if !told {
					room.deaf()
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

// enter joins the queue of those who wait for the lock in this process.
func (s *Service) enter(m *Mutex) (*room, *waiter) {
	me := &waiter{first: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[m.key]
	if r == nil {
		s.opened++
		r = &room{
			mutex: m, id: s.id + ":room" + strconv.Itoa(s.opened),
			wake: make(chan struct{}, 1), sooner: make(chan struct{}, 1),
		}
		s.rooms[m.key] = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, me)
	if len(r.queue) == 1 {
		close(me.first)
	}
	return r, me
}

// leave goes, whether with the lock or without, and makes the next one the first.
func (s *Service) leave(r *room, me *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.queue, me)
	r.queue = slices.Delete(r.queue, at, at+1)
	if len(r.queue) == 0 {
		delete(s.rooms, r.mutex.key)
		if r.stop != nil {
			r.stop()
		}
		if r.known && !s.closed {
			s.tasks.Go(r.withdraw)
		}
		return
	}
	if at == 0 {
		close(r.queue[0].first)
	}
}

func (r *room) length() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue)
}

// mayBeFree tells whether an attempt is worth a command: something woke the room,
// which is told then; nobody here listens yet, or the present holder's lease may be
// over. With directed wake-ups, Redis has to know the room.
func (r *room) mayBeFree() (look, told bool) {
	select {
	case <-r.wake:
		return true, true
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.hearing || r.mutex.svc.directed && !r.known || !time.Now().Before(r.again), false
}

// deaf ends a subscription that did not tell that the lock was free: its
// connection may lead nowhere. Who is the first next asks for another.
func (r *room) deaf() {
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

// signal wakes the first of the queue, or him who will be.
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
	case <-r.sooner:
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
	r.mu.Unlock()
	r.mutex.svc.start(func() { r.hear(ctx) })
}

package stage6

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// room is where those of one process wait who want the same lock. They queue: the
// first one talks to Redis, the others wait for its place. What wakes up wakes the
// room, so that a waiter who leaves takes no wake-up with him.
type room struct {
	mutex *Mutex

	mu      sync.Mutex
	queue   []*waiter
	again   time.Time // when the lease of the present holder may be over
	hearing bool      // a subscription has been asked for

	wake chan struct{} // capacity 1: the lock may be free
	stop context.CancelFunc
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
		if room.mayBeFree() {
			o, left, err := m.attempt(ctx, r)
			if err != nil {
				room.signal() // the next one has to look for himself
				return nil, err
			}
			if o != nil {
				room.lookAgain(o.lease)
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
		r = &room{mutex: m, wake: make(chan struct{}, 1)}
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
		return
	}
	if at == 0 {
		close(r.queue[0].first)
	}
}

// mayBeFree tells whether an attempt is worth a command: nobody here listens yet,
// something woke the room, or the present holder's lease may be over.
func (r *room) mayBeFree() bool {
	select {
	case <-r.wake:
		return true
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.hearing || !time.Now().Before(r.again)
}

// lookAgain says when the lease of the present holder may be over. Redis lets a key
// expire just after its time.
func (r *room) lookAgain(left time.Duration) {
	r.mu.Lock()
	r.again = time.Now().Add(left + time.Millisecond)
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
	hearing := r.hearing
	r.hearing = true
	r.mu.Unlock()
	if hearing {
		return
	}
	ctx, stop := context.WithCancel(r.mutex.svc.ctx)
	r.mu.Lock()
	r.stop = stop // by the last one who leaves; the caller has not left yet
	r.mu.Unlock()
	r.mutex.svc.start(func() { r.hear(ctx) })
}

// hear wakes the room for every message, and for every acknowledgement of the
// subscription: what was published before it was not heard. go-redis connects and
// subscribes anew by itself, and each time Redis acknowledges again.
func (r *room) hear(ctx context.Context) {
	s := r.mutex.svc
	sub := s.rdb.Subscribe(ctx, r.mutex.channel)
	unblock := context.AfterFunc(ctx, func() { _ = sub.Close() }) // ends Receive
	defer unblock()
	defer sub.Close()
	for {
		message, err := sub.Receive(ctx)
		if ctx.Err() != nil || errors.Is(err, redis.ErrClosed) {
			return
		}
		if err != nil {
			s.logger.Warn("waiting without messages", "name", r.mutex.name, "error", err)
			if !pause(ctx, reconnectPause) {
				return
			}
			if !isUnknown(err) { // Redis refused: go-redis asks anew only after a broken connection
				_ = sub.Subscribe(ctx, r.mutex.channel)
			}
			continue
		}
		switch message.(type) {
		case *redis.Subscription, *redis.Message:
			r.signal()
		}
	}
}

// reconnectPause keeps a server that is away from being asked without end.
const reconnectPause = 50 * time.Millisecond

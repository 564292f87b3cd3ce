package stage6

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownership is an owner's time with a lock, from its first hold to its last.
type ownership struct {
	mutex *Mutex
	request
	owner any // a string, which scripts get as it is
	token int64
	since time.Time
	first Hold          // those of re-entries are made one by one
	turn  chan struct{} // made by the first re-entry, capacity 1: who has filled it may change the count

	// Guarded by Service.mu.
	holds    []*Hold
	one      [1]*Hold  // where holds begins: most owners have one
	end      error     // why it is over: ErrLost, ErrClosed, ErrNotHeld; nil while it lasts
	deadline time.Time // until when the lease lasts for certain
	renewAt  time.Time // when to renew it next
	renewal  error     // what became of the last renewal; nil: it got through, or is still to come
}

// state is how many holds there are, why there will be no more, and whether the lease lasts.
func (o *ownership) state() (count int, end error, leased bool) {
	o.mutex.svc.mu.Lock()
	defer o.mutex.svc.mu.Unlock()
	return len(o.holds), o.end, time.Now().Before(o.deadline)
}

// reenter adds one to the owner's count.
func (o *ownership) reenter(ctx context.Context, r request) (*Hold, error) {
	if r.fixed && (!o.fixed || r.lease != o.lease) {
		return nil, fmt.Errorf("stage6: lock %s: a re-entry keeps the lease of the first hold, and cannot have one of %v", o.mutex.key, r.lease)
	}
	o.mutex.svc.mu.Lock()
	if o.turn == nil {
		o.turn = make(chan struct{}, 1)
	}
	o.mutex.svc.mu.Unlock()
	return o.setCount(ctx, 1)
}

// setCount writes how many holds the owner has, and one more if it is to come: that hold it
// returns. It waits until nobody else does: the count is absolute, so that it may be sent again.
// One that a failed re-entry may have raised is set again in the background.
func (o *ownership) setCount(parent context.Context, more int) (added *Hold, err error) {
	s := o.mutex.svc
	ctx, cancel := context.WithTimeout(parent, min(o.lease, s.lease))
	defer cancel()
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
	}
	count, end, _ := o.state()
	if end != nil || count+more == 0 { // the last Unlock frees it, or is about to
		return nil, end
	}
	if err := ctx.Err(); err != nil { // both may have been ready
		return nil, fmt.Errorf("stage6: hold of %s: %w", o.mutex.key, err)
	}
	switch err = o.insist(ctx, "count of", count+more); {
	case more > 0 && err == nil:
		return o.newHold(parent) // before the next one counts
	case more > 0 && (isUnknown(err) || isPassing(err)): // behind one that will pass there were several tries
		s.tasks.Go(func() { _, _ = o.setCount(s.ctx, 0) }) // the next one to count sets it anyway
	}
	return nil, err
}

// release frees the lock in Redis and ends the ownership for the reason given. It waits for
// nobody: the owner is unique, so what a re-entry or a renewal has on its way finds nothing.
func (o *ownership) release(ctx context.Context, reason error) error {
	m := o.mutex
	if !o.finish(reason) {
		return o.end // it does not change any more
	}
	err := o.insist(ctx, "unlock", 0)
	if tell := m.svc.observer.Released; tell != nil && err == nil {
		tell(m.name, time.Since(o.since))
	}
	return err
}

// insist sends a count again and again, for a third of the lease, while the answer is one that
// will pass or there is none, and without an answer three times at least. With a sixth for each
// try it is over before the lease. An owner that Redis does not know has lost the lock.
func (o *ownership) insist(ctx context.Context, doing string, count int) error {
	m, passing := o.mutex, time.Now().Add(min(o.lease, o.mutex.svc.lease)/3)
	for tries, unknown := 1, false; ; {
		sent := time.Now()
		mine, err := o.send(ctx, count)
		silent := err != nil && !isAnswer(err) && !errors.Is(err, redis.ErrClosed)
		again := silent && tries < attempts || err != nil && (silent || isPassing(err)) && sent.Before(passing)
		switch {
		case mine:
			o.extend(sent)
			return nil
		case err == nil && count > 0:
			o.lose(errTaken)
			return o.end
		case err == nil:
			if _, _, leased := o.state(); unknown && leased {
				return nil // it was the attempt before that freed the lock
			}
			m.svc.lost(o, errTaken)
			return ErrLost
		case again && ended(ctx) == nil && pause(ctx, min(passingPause, o.lease/60)):
			unknown = unknown || isUnknown(err)
			tries++
		default:
			return m.explain(ctx, doing, err)
		}
	}
}

// send sends a count once, and waits for a sixth of the lease at most; 0 frees the lock. It
// tells whether Redis knew the owner.
func (o *ownership) send(ctx context.Context, count int) (mine bool, err error) {
	m, millis := o.mutex, o.millis
	ctx, cancel := context.WithTimeout(ctx, min(o.lease, m.svc.lease)/6)
	defer cancel()
	if count == 0 {
		return m.svc.run(ctx, releaseScript, m.toFree, o.owner).Bool()
	}
	if o.fixed {
		millis = 0 // the one that is left stays
	}
	return m.svc.run(ctx, countScript, m.toFree[:2], o.owner, count, millis).Bool()
}

// extend notes that a command that was sent at that time has given the lock its whole lease
// again. The lease never ends earlier than before.
func (o *ownership) extend(sent time.Time) {
	o.mutex.svc.mu.Lock()
	defer o.mutex.svc.mu.Unlock()
	if end := sent.Add(o.lease); !o.fixed && end.After(o.deadline) {
		o.deadline = end
	}
}

// finish ends the ownership and the contexts of its holds: its lease is not renewed any more.
// It returns false if it was over before.
func (o *ownership) finish(reason error) bool {
	s := o.mutex.svc
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.end != nil {
		return false
	}
	o.end = reason
	delete(s.watched, o)
	for _, h := range o.holds {
		h.cancel(reason)
	}
	return true
}

// lose ends the ownership because the lock is somebody else's, or may be.
func (o *ownership) lose(cause error) {
	if o.finish(ErrLost) {
		o.mutex.svc.lost(o, cause)
	}
}

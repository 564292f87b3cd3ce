package stage6

import (
	"cmp"
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
	turn  chan struct{} // capacity 1: who has filled it may change the count

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

// reenter adds one to the owner's count. patience is as in lock.
func (o *ownership) reenter(ctx, patience context.Context, r request) (*Hold, error) {
	if r.fixed && (!o.fixed || r.lease != o.lease) {
		return nil, fmt.Errorf("stage6: lock %s: a re-entry keeps the lease of the first hold, and cannot have one of %v", o.mutex.key, r.lease)
	}
	return o.setCount(ctx, patience, 1)
}

// setCount writes how many holds the owner has, and one more if it is to come: that hold it
// returns. It waits, while there is patience, until no other call does: the count is absolute, so
// that it may be sent again. One that a failed re-entry may have raised is set again in the
// background.
func (o *ownership) setCount(parent, patience context.Context, more int) (added *Hold, err error) {
	s := o.mutex.svc
	ctx, cancel := context.WithTimeout(parent, min(o.lease, s.lease))
	defer cancel()
	mine := o.takeTurn(ctx, patience)
	if mine {
		defer func() { <-o.turn }()
	}
	count, end, _ := o.state()
	switch {
	case end != nil || count+more == 0: // the last Unlock frees it, or is about to
		return nil, end
	case ctx.Err() != nil || !mine:
		return nil, fmt.Errorf("stage6: hold of %s: %w", o.mutex.key, cmp.Or(ctx.Err(), ErrUnanswered))
	}
	switch err = o.insist(ctx, cmp.Or(patience, ctx), "count of", count+more); {
	case more > 0 && err == nil:
		return o.newHold(parent) // before the next one counts
	case more > 0 && (isUnknown(err) || isTemporary(err)): // there may have been several tries
		s.tasks.Go(func() { _, _ = o.setCount(s.ctx, s.ctx, 0) }) // the next one to count sets it anyway
	}
	return nil, err
}

// takeTurn waits, while ctx and patience last, until the caller may change the count, and reports
// whether it may. A free turn is taken even if they are over. A nil patience, that of TryLock, lasts
// for a sixtieth of the lease: other re-entries rarely take as long.
func (o *ownership) takeTurn(ctx, patience context.Context) bool {
	if patience == nil {
		limited, cancel := context.WithTimeout(ctx, min(o.lease, o.mutex.svc.lease)/60)
		defer cancel()
		patience = limited
	}
	select {
	case o.turn <- struct{}{}:
		return true
	default:
	}
	select {
	case o.turn <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-patience.Done():
	}
	return false
}

// release frees the lock in Redis and ends the ownership for the reason given. It waits for
// nobody: the owner is unique, so what a re-entry or a renewal has on its way finds nothing.
func (o *ownership) release(ctx context.Context, reason error) error {
	if !o.finish(reason) {
		return o.end // it does not change any more
	}
	err := o.insist(ctx, ctx, "unlock", 0)
	if err == nil && reason != ErrClosed { // Close tells the observer itself
		o.tellReleased()
	}
	return err
}

// tellReleased tells the observer that the lock is free.
func (o *ownership) tellReleased() {
	if tell := o.mutex.svc.observer.Released; tell != nil {
		tell(o.mutex.name, time.Since(o.since))
	}
}

// insist sends a count again and again, while there is patience, for a third of the lease, after
// a temporary refusal or without an answer, and without an answer three times at least. With a
// sixth for each try it is over before the lease. An owner that Redis does not know has lost the lock.
func (o *ownership) insist(ctx, patience context.Context, doing string, count int) error {
	m, until := o.mutex, time.Now().Add(min(o.lease, o.mutex.svc.lease)/3)
	for tries, unknown := 1, false; ; {
		sent := time.Now()
		mine, err := o.send(ctx, count)
		silent := err != nil && !isRefusal(err) && !errors.Is(err, redis.ErrClosed)
		again := silent && tries < attempts || (silent || isTemporary(err)) && sent.Before(until)
		switch _, _, leased := o.state(); {
		case mine:
			o.extend(sent)
			return nil
		case err == nil && count == 0 && unknown && leased:
			return nil // it was the attempt before that freed the lock
		case err == nil || isWrongType(err):
			return o.gone(count, m.explain(ctx, doing, err))
		case again && ended(ctx) == nil && pause(patience, min(passingPause, o.lease/60)):
			unknown = unknown || isUnknown(err)
			tries++
		default:
			return m.explain(ctx, doing, err)
		}
	}
}

// gone ends the ownership, unless its release has done so, because Redis does not know the owner.
// why is nil, or says what is there instead of the lock. It returns ErrLost, or why it had ended
// before.
func (o *ownership) gone(count int, why error) error {
	cause := cmp.Or(why, errTaken)
	if count == 0 {
		o.mutex.svc.lost(o, cause)
	} else if o.lose(cause); o.end != ErrLost {
		return o.end // it does not change any more
	}
	if why != nil {
		return fmt.Errorf("%w: %w", ErrLost, why)
	}
	return ErrLost
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

package stage6

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownership is the state of one owner of a lock, from its first hold to its last.
type ownership struct {
	mutex *Mutex
	request
	owner any // a string, as scripts get it
	token int64
	since time.Time
	first Hold          // the holds of re-entries are allocated one by one
	turn  chan struct{} // capacity 1: the goroutine that has filled it may change the count

	// Guarded by Service.mu.
	holds    []*Hold
	one      [1]*Hold  // the first array of holds: most owners have one
	end      error     // why it has ended: ErrLost, ErrClosed, ErrNotHeld; nil while it lasts
	deadline time.Time // the lease lasts at least until then
	renewAt  time.Time // when to renew it next
	renewal  error     // the error of the last renewal; nil: it succeeded, or was not sent yet
}

// state returns the number of holds, why the ownership has ended, and whether the lease still lasts.
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

// setCount stores len(holds)+more in Redis. With more = 1 it also returns the new hold. Until patience
// ends, it waits for other calls that store the count. The count is absolute, so that it may be sent
// again. If a failed re-entry may have raised it, it is stored again in the background.
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
	case end != nil || count+more == 0: // the last Unlock frees the lock
		return nil, end
	case ctx.Err() != nil || !mine:
		return nil, fmt.Errorf("stage6: hold of %s: %w", o.mutex.key, cmp.Or(ctx.Err(), ErrUnanswered))
	}
	switch err = o.insist(ctx, patience, "count of", count+more); {
	case more > 0 && err == nil:
		return o.newHold(parent) // before the next call counts the holds
	case more > 0 && (isUnknown(err) || isTemporary(err)): // an earlier try may have been executed
		s.tasks.Go(func() { _, _ = o.setCount(s.ctx, s.ctx, 0) }) // if it fails, the next call sets the count
	}
	return nil, err
}

// takeTurn waits until the caller may change the count, or ctx or patience ends, and reports whether
// it may. It takes a free turn even if they have ended. A nil patience, that of TryLock, lasts for a
// sixtieth of the lease: other re-entries rarely take as long.
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

// release ends the ownership and frees the lock in Redis.
func (o *ownership) release(ctx context.Context) error {
	if !o.finish(ErrNotHeld) {
		return o.end // it no longer changes
	}
	return o.free(ctx)
}

// free frees the lock of an ownership that has ended, and tells the observer. It does not wait for a
// re-entry or a renewal under way: the owner is unique, so their commands find nothing.
func (o *ownership) free(ctx context.Context) error {
	s, name := o.mutex.svc, o.mutex.name
	err := o.insist(ctx, ctx, "unlock", 0)
	switch held := time.Since(o.since); {
	case errors.Is(err, ErrLost): // lost has told it
	case err != nil:
		s.tellLost(name)
	case s.observer.Released != nil:
		s.tell(func() { s.observer.Released(name, held) })
	}
	return err
}

// insist sends a count, and 0 to free the lock, until one of these is so:
//
//   - Redis knew the owner: done.
//   - Redis did not know the owner, but a try before stayed without an answer, and was to free the
//     lock: done if no other owner has come since, by the token. Otherwise that try has freed the
//     lock, or the lock was lost before: an error that says so.
//   - Redis did not know the owner, or its key holds something else: the lock is lost.
//   - Redis refused for a while, and a third of the lease has passed: the refusal.
//   - Redis did not answer, three times and for a third of the lease: the last error.
//   - Patience is nil, or has ended, or Redis refused for good: that error.
//
// A try takes a sixth of the lease at most, so insist returns before the lease ends.
func (o *ownership) insist(ctx, patience context.Context, doing string, count int) error {
	m, until := o.mutex, time.Now().Add(o.third())
	var unanswered error // of an earlier try
	for tries := 1; ; tries++ {
		sent := time.Now()
		mine, err := o.send(ctx, count, unanswered != nil)
		silent := err != nil && !isRefusal(err) && !errors.Is(err, redis.ErrClosed)
		again := silent && tries < attempts || (silent || isTemporary(err)) && sent.Before(until)
		switch {
		case mine:
			o.extend(sent)
			return nil
		case (err == nil || isWrongType(err)) && count == 0 && unanswered != nil:
			return fmt.Errorf("stage6: unlock %s: the outcome is not known: %w", m.key, unanswered)
		case err == nil || isWrongType(err):
			return o.gone(count, m.explain(ctx, doing, err))
		case !again || ended(ctx) != nil || patience == nil || !pause(patience, min(passingPause, o.lease/60)):
			return m.explain(ctx, doing, err)
		}
		if isUnknown(err) {
			unanswered = err
		}
	}
}

// gone ends the ownership because Redis does not know the owner, unless release has already ended
// it. why is nil, or the error about a key that is no lock. It returns ErrLost, or the reason for
// which the ownership had ended.
func (o *ownership) gone(count int, why error) error {
	cause := cmp.Or(why, errTaken)
	if count == 0 {
		o.mutex.svc.lost(o, cause)
	} else if o.lose(cause); o.end != ErrLost {
		return o.end // it no longer changes
	}
	if why != nil {
		return fmt.Errorf("%w: %w", ErrLost, why)
	}
	return ErrLost
}

// send sends a count once, and waits for a sixth of the lease at most; 0 frees the lock. It reports
// whether Redis knew the owner, or, if asked again, whether no other owner has come after it.
func (o *ownership) send(ctx context.Context, count int, again bool) (mine bool, err error) {
	m := o.mutex
	ctx, cancel := context.WithTimeout(ctx, o.third()/2)
	defer cancel()
	switch {
	case count > 0:
		return m.svc.run(ctx, countScript, m.toFree[:2], o.owner, count, o.extension()).Bool()
	case again:
		return m.svc.run(ctx, releaseScript, m.toAcquire, m.channel, o.owner, o.token).Bool()
	default:
		return m.svc.run(ctx, releaseScript, m.toFree, o.owner).Bool()
	}
}

// extension returns the lease that a re-entry or a renewal gives the lock again, as scripts get it; 0
// for a fixed lease, of which what remains stays.
func (o *ownership) extension() any {
	if o.fixed {
		return 0
	}
	return o.millis
}

// extend records that a command sent at that time has given the lock its whole lease again.
// The end of the lease never moves back.
func (o *ownership) extend(sent time.Time) {
	o.mutex.svc.mu.Lock()
	defer o.mutex.svc.mu.Unlock()
	if end := sent.Add(o.lease); !o.fixed && end.After(o.deadline) {
		o.deadline = end
	}
}

// finish ends the ownership, its renewals and the contexts of its holds. It returns false if
// the ownership had already ended.
func (o *ownership) finish(reason error) bool {
	o.mutex.svc.mu.Lock()
	defer o.mutex.svc.mu.Unlock()
	return o.finishNow(reason)
}

// finishNow does what finish does. The caller holds Service.mu.
func (o *ownership) finishNow(reason error) bool {
	s, key := o.mutex.svc, o.mutex.key
	if o.end != nil {
		return false
	}
	o.end = reason
	if s.watched[key] == o {
		delete(s.watched, key)
	}
	for _, h := range o.holds {
		h.cancel(reason)
	}
	return true
}

// lose ends the ownership because another client holds the lock, or may hold it.
func (o *ownership) lose(cause error) {
	if o.finish(ErrLost) {
		o.mutex.svc.lost(o, cause)
	}
}

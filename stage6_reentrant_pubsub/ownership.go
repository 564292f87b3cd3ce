package stage6

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ownership is an owner's time with a lock, from its first hold to its last.
type ownership struct {
	mutex *Mutex
	owner any // a string, which scripts get as it is
	token int64
	lease time.Duration
	fixed bool
	since time.Time
	turn  chan struct{} // capacity 1: who has filled it may change the count

	mu       sync.Mutex
	holds    []*Hold
	end      error     // why it is over: ErrLost, ErrClosed, ErrNotHeld; nil while it lasts
	deadline time.Time // until when the lease lasts for certain
}

func newOwnership(m *Mutex, r request, owner any, token int64, deadline time.Time) *ownership {
	return &ownership{
		mutex: m, owner: owner, token: token, lease: r.lease, fixed: r.fixed,
		since: time.Now(), deadline: deadline, turn: make(chan struct{}, 1),
	}
}

// reenter adds one to the owner's count.
func (o *ownership) reenter(ctx context.Context, r request) (*Hold, error) {
	if r.fixed && (!o.fixed || r.lease != o.lease) {
		return nil, fmt.Errorf("stage6: lock %s: a re-entry keeps the lease of the first hold, and cannot have one of %v", o.mutex.key, r.lease)
	}
	if _, err := o.count(); err != nil {
		return nil, err
	}
	if err := o.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer o.giveTurn()
	if err := ctx.Err(); err != nil { // both may have been ready
		return nil, fmt.Errorf("stage6: hold of %s: %w", o.mutex.key, err)
	}
	count, err := o.count()
	if err != nil {
		return nil, err
	}
	if err := o.setCount(ctx, count+1); err != nil {
		if isUnknown(err) {
			o.restoreCount()
		}
		return nil, withContext(ctx, err)
	}
	if _, err := o.count(); err != nil { // released meanwhile
		return nil, err
	}
	return o.newHold(ctx), nil
}

// restoreCount sets, in the background, the count that a failed re-entry may have
// raised.
func (o *ownership) restoreCount() {
	o.mutex.svc.start(func() {
		ctx, cancel := context.WithTimeout(o.mutex.svc.ctx, o.lease/2)
		defer cancel()
		if o.takeTurn(ctx) != nil {
			return
		}
		defer o.giveTurn()
		if count, end := o.count(); end == nil && count > 0 {
			_ = o.setCount(ctx, count) // the next one to count sets it anyway
		}
	})
}

// drop takes a hold out of its owner's count. It returns false if it was released
// before.
func (o *ownership) drop(h *Hold) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.released {
		return false
	}
	h.released = true
	o.holds = slices.DeleteFunc(o.holds, func(other *Hold) bool { return other == h })
	return true
}

// takeTurn waits until nobody else changes the count.
func (o *ownership) takeTurn(ctx context.Context) error {
	select {
	case o.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stage6: hold of %s: %w", o.mutex.key, ctx.Err())
	}
}

// takeTurnInTime waits for a third of the lease at most.
func (o *ownership) takeTurnInTime() error {
	ctx, cancel := context.WithTimeout(context.Background(), min(o.lease, o.mutex.svc.lease)/3)
	defer cancel()
	return o.takeTurn(ctx)
}

func (o *ownership) giveTurn() { <-o.turn }

// count is how many holds there are, or why there are none any more.
func (o *ownership) count() (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.holds), o.end
}

// setCount writes the owner's count. It is absolute, so that it may be sent again
// after an attempt whose outcome is unknown.
func (o *ownership) setCount(ctx context.Context, count int) error {
	var lease time.Duration
	if !o.fixed {
		lease = o.lease
	}
	r, err := o.insist(ctx, countScript, withKeys(o.mutex.key), o.owner, count, lease.Milliseconds())
	if err != nil {
		return explain("count of", o.mutex.key, err)
	}
	if !r.mine {
		o.lose(errTaken)
		return ErrLost
	}
	o.extend(r.sent.Add(lease))
	return nil
}

// release frees the lock in Redis and ends the ownership for the reason given. It is not
// renewed any more. It takes half of the lease at most.
func (o *ownership) release(reason error) error {
	m := o.mutex
	m.svc.watchdog.forget(o)
	if !o.finish(reason) {
		_, end := o.count()
		return end
	}
	r, err := o.insist(context.Background(), releaseScript, m.toFree, o.owner)
	if err != nil {
		return explain("unlock", m.key, err)
	}
	// Nothing found after an attempt of unknown outcome, inside the lease: it was that
	// attempt which freed the lock.
	if !r.mine && !(r.unknown && time.Now().Before(o.leaseEnd())) {
		m.svc.lost(o, errTaken)
		return ErrLost
	}
	if m.svc.observer.Released != nil {
		m.svc.observer.Released(m.name, time.Since(o.since))
	}
	return nil
}

// reply is what a script of an owner's came to: whether the lock was that owner's, when the
// command was sent, and whether one sent before it may have taken effect.
type reply struct {
	mine    bool
	sent    time.Time
	unknown bool
}

// insist sends a script, which may be repeated, until Redis has answered: three times after
// attempts of unknown outcome, and again and again while the answer is one that will pass. It
// takes half of the lease at most.
func (o *ownership) insist(ctx context.Context, s script, on operands, args ...any) (r reply, err error) {
	lease := min(o.lease, o.mutex.svc.lease)
	ctx, cancel := context.WithTimeout(ctx, lease/2)
	defer cancel()
	for tries := 1; ; {
		r.sent = time.Now()
		try, done := context.WithTimeout(ctx, lease/6)
		r.mine, err = run(try, o.mutex.svc.rdb, s, on, args...).Bool()
		done()
		switch {
		case err == nil:
			return r, nil
		case isPassing(err):
			if !pause(ctx, passingPause) || ended(ctx) != nil {
				return r, err
			}
		case isAnswer(err) || ended(ctx) != nil || tries == attempts:
			return r, err
		default:
			r.unknown = r.unknown || !isUnsent(err)
			tries++
		}
	}
}

// attempts is how often a command is sent whose outcome stays unknown; passingPause is how
// long to wait after an answer that will pass.
const (
	attempts     = 3
	passingPause = 50 * time.Millisecond
)

// close ends a hold of a service that closes.
func (o *ownership) close() error {
	if o.takeTurnInTime() == nil { // an Unlock or a re-entry under way ends first
		defer o.giveTurn()
	}
	err := o.release(ErrClosed)
	if errors.Is(err, ErrLost) || errors.Is(err, ErrNotHeld) {
		return nil // it was over already
	}
	return err
}

// finish ends the ownership and the contexts of its holds. It returns false if it
// was over before.
func (o *ownership) finish(reason error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil {
		return false
	}
	o.end = reason
	for _, h := range o.holds {
		h.cancel(reason)
	}
	return true
}

// lose ends the ownership because the lock is somebody else's, or may be.
func (o *ownership) lose(cause error) {
	o.mutex.svc.watchdog.forget(o)
	if o.finish(ErrLost) {
		o.mutex.svc.lost(o, cause)
	}
}

// freeWhatIsLeft frees the key of a hold that WithMaxHold has ended: its lease still runs.
func (o *ownership) freeWhatIsLeft() {
	if longest := o.mutex.svc.maxHold; longest > 0 && time.Now().Before(o.leaseEnd()) {
		_, _ = o.mutex.free(o.owner) // the lease frees it else
	}
}

// extend moves the end of the lease; it never comes nearer.
func (o *ownership) extend(deadline time.Time) {
	o.mu.Lock()
	if deadline.After(o.deadline) {
		o.deadline = deadline
	}
	o.mu.Unlock()
}

func (o *ownership) leaseEnd() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.deadline
}

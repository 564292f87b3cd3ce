package stage6

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// request is what one acquire asks for.
type request struct {
	lease time.Duration // in whole milliseconds, as Redis keeps it
	fixed bool          // the lease is not renewed
	begun time.Time
}

// lock acquires or re-enters. patience says how long to wait for somebody else's
// hold to end; nil: not at all.
func (m *Mutex) lock(ctx, patience context.Context, opts []LockOption) (*Hold, error) {
	r := request{lease: m.svc.lease, begun: time.Now()}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("stage6: option is nil: leave it out")
		}
		r = opt(r)
	}
	r.lease = r.lease.Truncate(time.Millisecond)
	if r.fixed {
		if err := checkLease("lease", r.lease); err != nil {
			return nil, err
		}
	}
	if held := m.carried(ctx); held != nil {
		return held.own.reenter(ctx, r)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
	}
	var o *ownership
	var err error
	if patience != nil {
		o, err = m.wait(ctx, patience, r)
	} else {
		for late := 1; ; late++ { // a grant that is over is no answer yet
			if o, _, err = m.attempt(ctx, r); !errors.As(err, new(lateError)) || late == attempts {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, ErrLocked
	}
	hold := o.newHold(ctx)
	if m.svc.observer.Acquired != nil {
		told := false
		defer func() {
			if !told { // it panics, and nobody gets the hold
				_ = hold.Unlock()
			}
		}()
		m.svc.observer.Acquired(m.name, time.Since(r.begun))
		told = true
	}
	return hold, nil
}

// attempt asks Redis once. Without an error it returns the ownership, or nil and how
// long the lease of the present holder lasts. Each attempt has an owner of its own:
// what a late or a lost grant left behind can be freed, and nothing else with it. The
// lease counts from before the command was sent: a reply that comes after
// it is a grant that is over, and lateError. Close waits for the attempt, and no hold
// comes of one that ends after it.
func (m *Mutex) attempt(ctx context.Context, r request) (*ownership, time.Duration, error) {
	s := m.svc
	if !s.begin() {
		return nil, 0, ErrClosed
	}
	defer s.tasks.Done()
	owner, sent := s.newOwner(), time.Now()
	answer, err := run(ctx, s.rdb, acquireScript, m.toAcquire, owner, r.lease.Milliseconds(), tokenKept).Int64()
	switch {
	case err != nil:
		if isUnknown(err) {
			m.cleanUp(owner, r.lease)
		}
		return nil, 0, explain("lock", m.key, withContext(ctx, err))
	case answer == 0: // no token is
		return nil, 0, fmt.Errorf("stage6: lock %s: Redis answered 0, which is neither a token nor a refusal", m.key)
	case answer < 0:
		return nil, m.leaseLeft(answer), nil
	}
	o := newOwnership(m, r, owner, answer, sent.Add(r.lease))
	if s.watchdog.add(o, sent) {
		if took := time.Since(sent); took > r.lease/6 {
			s.logger.Warn("lease is short for the way to Redis: a renewal may take a sixth of it", "name", m.name, "lease", r.lease, "took", took)
		}
		return o, 0, nil
	}
	if _, err := m.free(owner); err != nil {
		m.cleanUp(owner, r.lease)
	}
	if s.isClosed() {
		return nil, 0, ErrClosed
	}
	return nil, 0, fmt.Errorf("stage6: lock %s: %w", m.key, lateError{r.lease})
}

// lateError says that a grant was over when it came.
type lateError struct{ lease time.Duration }

func (e lateError) Error() string {
	return fmt.Sprintf("the grant came after its lease of %v was over: the lease is too short for the way to Redis", e.lease)
}

// tokenKept is for how long Redis remembers the last fencing token of a lock that
// nobody uses, in milliseconds. The clock makes up for one that is forgotten.
const tokenKept = int64(time.Hour / time.Millisecond)

// leaseLeft reads a refusal. A lock without a lease is looked at again after one
// of ours.
func (m *Mutex) leaseLeft(answer int64) time.Duration {
	if left := -2 - answer; left >= 0 && left < m.svc.lease.Milliseconds() { // compared before it can overflow
		return time.Duration(left) * time.Millisecond
	}
	return m.svc.lease
}

// withContext adds the context's own error to one with which a command ended
// because the context did: a caller looks for that.
func withContext(ctx context.Context, err error) error {
	if end := ended(ctx); end != nil && !isAnswer(err) {
		return fmt.Errorf("%w (%w)", end, err)
	}
	return err
}

// ended is why ctx is over, nil if it is not. A connection's timer and the
// context's own go off at one moment, in any order, so the deadline decides.
func ended(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// free releases what an acquire has got, and nothing else: the owner is that
// acquire's alone. It takes a sixth of the lease at most.
func (m *Mutex) free(owner any) (freed bool, err error) {
	ctx, done := context.WithTimeout(context.Background(), m.svc.lease/6)
	defer done()
	return run(ctx, m.svc.rdb, releaseScript, m.toFree, owner).Bool()
}

// cleanUp frees, in the background, what an acquire of unknown outcome may have
// got, or may still get: the command can be on its way for longer than its
// caller waited. So it tries again, less and less often, until it has found
// something or the lease would be over, the service's at the latest. Where the service
// closes meanwhile, or is closed, it tries once more and lets the lease do the rest.
func (m *Mutex) cleanUp(owner any, lease time.Duration) {
	s := m.svc
	try := func() {
		ctx, cancel := context.WithTimeout(s.ctx, min(lease, s.lease))
		defer cancel()
		for wait := s.lease / 60; ; wait *= 2 {
			freed, err := m.free(owner)
			if err != nil {
				s.logger.Warn("clean-up after an acquire of unknown outcome failed", "name", m.name, "error", err)
			}
			if freed || ctx.Err() != nil {
				return
			}
			pause(ctx, wait)
		}
	}
	if !s.start(try) {
		try()
	}
}

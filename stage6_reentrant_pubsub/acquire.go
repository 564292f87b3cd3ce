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
		o, _, err = m.attempt(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, ErrLocked
	}
	if m.svc.observer.Acquired != nil {
		m.svc.observer.Acquired(m.name, time.Since(r.begun))
	}
	return o.newHold(ctx), nil
}

// attempt asks Redis once. Without an error it returns the ownership, or nil and how
// long the lease of the present holder lasts. Each attempt has an owner of its own:
// what a late or a lost grant left behind can be freed, and nothing else with it. The
// lease counts from before the command was sent: a reply that comes after
// it is a grant that is over, and asked for again.
func (m *Mutex) attempt(ctx context.Context, r request) (*ownership, time.Duration, error) {
	for {
		if m.svc.isClosed() {
			return nil, 0, ErrClosed
		}
		owner, sent := m.svc.newOwner(), time.Now()
		answer, err := run(ctx, m.svc.rdb, acquireScript, m.toAcquire, owner, r.lease.Milliseconds(), tokenKept).Int64()
		if err != nil {
			if isUnknown(err) {
				m.cleanUp(owner, sent.Add(r.lease))
			}
			return nil, 0, explain("lock", m.key, withContext(ctx, err))
		}
		if answer == 0 { // no token is
			return nil, 0, fmt.Errorf("stage6: lock %s: Redis answered 0, which is neither a token nor a refusal", m.key)
		}
		if answer < 0 {
			return nil, m.leaseLeft(answer), nil
		}
		if o := newOwnership(m, r, owner, answer, sent.Add(r.lease)); m.svc.watchdog.add(o, sent) {
			return o, 0, nil
		}
		// The grant came too late, or the service was closed meanwhile.
		if m.free(ctx, owner) != nil {
			m.cleanUp(owner, time.Now().Add(r.lease))
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, fmt.Errorf("stage6: lock %s: %w", m.key, err)
		}
	}
}

// tokenKept is for how long Redis remembers the last fencing token of a lock that
// nobody uses, in milliseconds.
const tokenKept = int64(24 * time.Hour / time.Millisecond)

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

// errNothingToFree says that a release found nothing of that owner's.
var errNothingToFree = errors.New("stage6: nothing to free")

// free releases what an acquire has got, and nothing else: the owner is that
// acquire's alone. It takes a sixth of the lease at most.
func (m *Mutex) free(ctx context.Context, owner any) error {
	try, done := context.WithTimeout(ctx, m.svc.lease/6)
	defer done()
	freed, err := run(try, m.svc.rdb, releaseScript, m.toFree, owner).Bool()
	if err == nil && !freed {
		return errNothingToFree
	}
	return err
}

// cleanUp frees, in the background, what an acquire of unknown outcome may have
// got, or may still get: the command can be on its way for longer than its
// caller waited. So it tries again, less and less often, until it has found
// something or the lease would be over. Where the service closes meanwhile, or is
// closed, it tries once more and lets the lease do the rest.
func (m *Mutex) cleanUp(owner any, until time.Time) {
	s := m.svc
	last := func() { _ = m.free(context.Background(), owner) }
	started := s.start(func() {
		ctx, cancel := context.WithDeadline(s.ctx, until)
		defer cancel()
		for wait := s.lease / 60; ; wait *= 2 {
			err := m.free(ctx, owner)
			if err == nil {
				return
			}
			if !errors.Is(err, errNothingToFree) {
				s.logger.Warn("clean-up after an acquire of unknown outcome failed", "name", m.name, "error", err)
			}
			if !pause(ctx, wait) {
				break
			}
		}
		if s.isClosed() {
			last()
		}
	})
	if !started {
		last()
	}
}

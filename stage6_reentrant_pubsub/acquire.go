package stage6

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// request holds the settings of one acquire.
type request struct {
	lease  time.Duration // in whole milliseconds, as Redis keeps it
	millis any           // the same as an int64, for scripts
	fixed  bool          // the lease is not renewed
}

// lock acquires or re-enters. It waits until patience ends while another owner
// holds the lock; with a nil patience it does not wait.
func (m *Mutex) lock(ctx, patience context.Context, opts []LockOption) (*Hold, error) {
	s, begun := m.svc, time.Now()
	if !s.begin() {
		return nil, ErrClosed
	}
	defer s.tasks.Done()
	r := request{lease: s.lease, millis: s.millis}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("stage6: an option is nil: leave it out")
		}
		r = opt(r)
	}
	if err := checkLease("lease", r.lease); err != nil {
		return nil, err
	}
	if held := m.carried(ctx); held != nil {
		return held.own.reenter(ctx, patience, r)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
	}
	o, err := m.wait(ctx, patience, r)
	if err != nil {
		return nil, err
	}
	hold, err := o.newHold(ctx)
	if err != nil { // the service was closed, or the hold ended at once; its key may still exist
		s.tasks.Go(o.cleanUp)
		return nil, err
	}
	if tell := s.observer.Acquired; tell != nil {
		told := false
		defer func() {
			if !told { // it panicked, and the caller does not get the hold
				_ = hold.Unlock()
			}
		}()
		tell(m.name, time.Since(begun))
		told = true
	}
	return hold, nil
}

// errLate is the error of an attempt whose grants arrived after their lease had ended.
var errLate = errors.New("the lease is too short for the way to Redis")

// attempt asks Redis for the lock. With ErrLocked it returns how long the current
// holder's lease lasts. It asks again, three times in all, while a slot of a Cluster
// is migrating, and if the lease had ended when the grant arrived: the lease counts
// from before the command was sent. Each try has a new owner, so that freeing a late
// or lost grant cannot free anything else. An attempt that ends after Close returns no
// hold.
func (m *Mutex) attempt(ctx context.Context, r request) (*ownership, time.Duration, error) {
	s := m.svc
	for tries := 1; ; tries++ {
		sent := time.Now()
		o := &ownership{
			mutex: m, request: r, since: sent, deadline: sent.Add(r.lease),
			turn:  make(chan struct{}, 1),
			owner: string(strconv.AppendInt(append(make([]byte, 0, 64), s.id...), s.owners.Add(1), 10)),
		}
		o.holds = o.one[:0]
		answer, err := s.run(ctx, acquireScript, m.toAcquire, o.owner, r.millis).Int64()
		switch {
		case redis.IsTryAgainError(err) && tries < attempts && pause(ctx, passingPause):
			continue
		case err != nil:
			if isUnknown(err) {
				s.tasks.Go(o.cleanUp)
			}
			return nil, 0, m.explain(ctx, "lock", err)
		case answer == 0: // 0 is never a token
			return nil, 0, fmt.Errorf("stage6: lock %s: Redis answered 0, which is neither a token nor a refusal", m.key)
		case answer < 0:
			left := -2 - answer
			if left < 0 || left > s.lease.Milliseconds() { // no lease, or a longer one than ours: ask again after our own lease
				left = s.lease.Milliseconds()
			}
			return nil, time.Duration(left) * time.Millisecond, ErrLocked
		}
		o.token = answer
		if s.watch(o) {
			if took := time.Since(sent); took > r.lease/6 {
				s.logger.Warn("lease is short for the way to Redis: a renewal may take a sixth of it", "name", m.name, "lease", r.lease, "took", took)
			}
			return o, 0, nil
		}
		err = fmt.Errorf("stage6: lock %s: the grant came after its lease of %v was over: %w", m.key, r.lease, errLate)
		if s.isClosed() {
			err = ErrClosed
		}
		if tries == attempts || err == ErrClosed {
			s.tasks.Go(o.cleanUp)
			return nil, 0, err
		}
		if _, err := o.send(ctx, 0); err != nil { // otherwise it would keep the next owner out
			s.tasks.Go(o.cleanUp)
		}
	}
}

// cleanUp frees the lock after an acquire of unknown outcome, whose command may
// still reach Redis later. It tries again with growing pauses until it has found the
// key or the lease has ended: an answer in between proves nothing. Once the service
// is closed it tries once more and leaves the key to its lease. In an overload it
// stops after the first answer: clean-ups must not send more commands than the
// attempts did.
func (o *ownership) cleanUp() {
	s := o.mutex.svc
	s.cleanUps.Add(1)
	time.AfterFunc(s.lease, func() { s.cleanUps.Add(-1) })
	ctx, cancel := context.WithTimeout(s.ctx, o.lease)
	defer cancel()
	for wait := s.short() / 60; ; wait *= 2 {
		freed, err := o.send(context.Background(), 0)
		if err != nil {
			s.logger.Warn("clean-up after an acquire of unknown outcome failed", "name", o.mutex.name, "error", err)
		}
		if freed || ctx.Err() != nil {
			return
		}
		pause(ctx, wait)
		if err == nil && s.cleanUps.Load() > overload {
			return
		}
	}
}

// overload is the number of clean-ups within a lease above which they are not repeated.
const overload = 50

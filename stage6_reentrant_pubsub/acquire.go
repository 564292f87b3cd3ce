package stage6

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// request is what one acquire asks for.
type request struct {
	lease  time.Duration // in whole milliseconds, as Redis keeps it
	millis any           // so many, an int64: what scripts get
	fixed  bool          // the lease is not renewed
}

// lock acquires or re-enters. patience says how long to wait for somebody else's
// hold to end; nil: not at all.
func (m *Mutex) lock(ctx, patience context.Context, opts []LockOption) (*Hold, error) {
	s, begun := m.svc, time.Now()
	if !s.begin() {
		return nil, ErrClosed
	}
	defer s.tasks.Done()
	r := request{lease: s.lease, millis: s.millis}
	for _, opt := range opts {
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
	if err != nil { // the service closed, or the hold was over at once, and its key may be there
		s.tasks.Go(o.cleanUp)
		return nil, err
	}
	if tell := s.observer.Acquired; tell != nil {
		told := false
		defer func() {
			if !told { // it panics, and nobody gets the hold
				_ = hold.Unlock()
			}
		}()
		tell(m.name, time.Since(begun))
		told = true
	}
	return hold, nil
}

// errLate is why an attempt fails whose grants came when their lease was over.
var errLate = errors.New("the lease is too short for the way to Redis")

// attempt asks Redis for the lock. With ErrLocked it returns how long to wait for the end of
// the present holder's lease. It asks again, three times in all, when a slot of a Cluster is
// on its way to another node, and when the grant was over when it came: the lease counts from
// before the command was sent. Each time it is another owner: what a late or a lost grant left
// behind can be freed, and nothing else with it. No hold comes of an attempt that ends after
// Close.
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
		case answer == 0: // no token is
			return nil, 0, fmt.Errorf("stage6: lock %s: Redis answered 0, which is neither a token nor a refusal", m.key)
		case answer < 0:
			left := -2 - answer
			if left < 0 || left > s.lease.Milliseconds() { // no lease, or a long one: look again after one of ours
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
		if _, err := o.send(ctx, 0); err != nil { // else it would keep the next owner out
			s.tasks.Go(o.cleanUp)
		}
	}
}

// cleanUp frees what an acquire of unknown outcome may have got, or may still get: the
// command can be on its way for longer than its caller waited. So it tries again, less
// and less often, until it has found the key or the lease would be over, for a lease of
// the service at most. Where the service closes meanwhile, or is closed, it tries once
// more and lets the lease do the rest. In an overload it does so as well once Redis has
// answered: clean-ups must not send more than the attempts did.
func (o *ownership) cleanUp() {
	s := o.mutex.svc
	s.cleanUps.Add(1)
	time.AfterFunc(s.lease, func() { s.cleanUps.Add(-1) })
	ctx, cancel := context.WithTimeout(s.ctx, min(o.lease, s.lease))
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

// overload is how many clean-ups of a service within a lease are too many to repeat.
const overload = 50

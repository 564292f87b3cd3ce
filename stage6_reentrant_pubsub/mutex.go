package stage6

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Mutex is a lock that every process shares that uses the same Redis and the same
// name. It is safe for concurrent use.
type Mutex struct {
	svc                       *Service
	name, key, channel, token string
}

// request is what one acquire asks for.
type request struct {
	lease time.Duration
	fixed bool // the lease is not renewed
	begun time.Time
}

// Name is the lock's name.
func (m *Mutex) Name() string { return m.name }

// Lock waits until the caller holds the lock. With a context that carries a hold
// of this lock it re-enters. It returns the context's error when ctx is done
// first, ErrLost with the context of a lost hold, and ErrClosed.
func (m *Mutex) Lock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	return m.lock(ctx, ctx, true, opts)
}

// TryLock makes one attempt. It returns ErrLocked when somebody else holds the
// lock.
func (m *Mutex) TryLock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	return m.lock(ctx, ctx, false, opts)
}

// TryLockFor waits for the lock, but no longer than wait: then it returns
// ErrLocked.
func (m *Mutex) TryLockFor(ctx context.Context, wait time.Duration, opts ...LockOption) (*Hold, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	hold, err := m.lock(ctx, limited, true, opts)
	if isUnknown(err) && limited.Err() != nil && ctx.Err() == nil {
		return nil, ErrLocked
	}
	return hold, err
}

// lock acquires or re-enters. parent is what the hold's context is made from, and
// ctx how long to wait.
func (m *Mutex) lock(parent, ctx context.Context, wait bool, opts []LockOption) (*Hold, error) {
	r := request{lease: m.svc.lease, begun: time.Now()}
	for _, opt := range opts {
		opt(&r)
	}
	if r.fixed {
		if err := checkLease("lease", r.lease); err != nil {
			return nil, err
		}
	}
	if held := m.carried(ctx); held != nil {
		return held.own.reenter(parent, ctx, r)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
	}
	var o *ownership
	var err error
	if wait {
		o, err = m.wait(ctx, r)
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
	return o.newHold(parent), nil
}

// attempt asks Redis once, for an owner of its own: what a late or lost grant left
// behind can then be cleaned up, and nothing else with it. Without an error it returns the ownership, or nil and
// how long the lease of the present holder lasts. The lease counts from before the
// command was sent: a reply that comes after it is a grant that is over.
func (m *Mutex) attempt(ctx context.Context, r request) (*ownership, time.Duration, error) {
	for {
		if m.svc.isClosed() {
			return nil, 0, ErrClosed
		}
		owner, sent := m.svc.newOwner(), time.Now()
		answer, err := run(ctx, m.svc.rdb, acquireScript, []string{m.key, m.token},
			owner, r.lease.Milliseconds(), tokenKept.Milliseconds()).Int64()
		if err != nil {
			if isUnknown(err) {
				m.cleanUp(owner, sent.Add(r.lease))
			}
			return nil, 0, explain("lock", m.key, err)
		}
		if answer < 0 {
			return nil, m.leaseLeft(answer), nil
		}
		if o := newOwnership(m, r, owner, answer, sent.Add(r.lease)); m.svc.keeper.add(o) {
			return o, 0, nil
		}
		// The grant came too late, or the service was closed meanwhile.
		m.cleanUp(owner, time.Now().Add(r.lease))
		if err := ctx.Err(); err != nil {
			return nil, 0, fmt.Errorf("stage6: lock %s: %w", m.key, err)
		}
	}
}

// tokenKept is for how long Redis remembers the last fencing token of a lock that
// nobody uses.
const tokenKept = 24 * time.Hour

// leaseLeft reads a refusal. A lock without a lease is looked at again after one
// of ours.
func (m *Mutex) leaseLeft(answer int64) time.Duration {
	if left := -2 - answer; left >= 0 {
		return min(time.Duration(left)*time.Millisecond, m.svc.lease)
	}
	return m.svc.lease
}

// cleanUp frees, in the background, what an acquire of unknown outcome may have
// got. The owner is this acquire's alone, so nothing else can be freed. After a
// lease there is nothing left to free.
func (m *Mutex) cleanUp(owner string, until time.Time) {
	s := m.svc
	s.start(func() {
		ctx, cancel := context.WithDeadline(s.ctx, until)
		defer cancel()
		for {
			try, done := context.WithTimeout(ctx, s.lease/6)
			err := run(try, s.rdb, releaseScript, []string{m.key}, owner, m.channel).Err()
			done()
			if err == nil || !pause(ctx, s.lease/30) {
				return
			}
			s.logger.Warn("clean-up after an acquire of unknown outcome failed", "name", m.name, "error", err)
		}
	})
}

// Do runs work while it holds the lock. It returns work's error, joined with that
// of the unlock, and ErrLost if the hold was lost meanwhile. A panic in work
// releases the lock and goes on.
func (m *Mutex) Do(ctx context.Context, work func(context.Context) error) (err error) {
	hold, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Unlock()) }()
	return work(hold.Context())
}

// ForceUnlock frees the lock whoever holds it, and tells whether anybody did. The
// holder learns of it at its next renewal.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) {
	freed, err := run(ctx, m.svc.rdb, forceScript, []string{m.key}, m.channel).Bool()
	if err != nil {
		return false, explain("force", m.key, err)
	}
	return freed, nil
}

// IsLocked tells whether anybody holds the lock.
func (m *Mutex) IsLocked(ctx context.Context) (bool, error) {
	n, err := m.svc.rdb.Exists(ctx, m.key).Result()
	if err != nil {
		return false, explain("look at", m.key, err)
	}
	return n > 0, nil
}

// IsHeld tells whether the owner that ctx carries holds the lock, as far as this
// process knows.
func (m *Mutex) IsHeld(ctx context.Context) bool {
	held := m.carried(ctx)
	return held != nil && held.own.isLive()
}

// HoldCount is how often, according to Redis, the owner that ctx carries holds the
// lock: 0 for a stranger.
func (m *Mutex) HoldCount(ctx context.Context) (int, error) {
	held := m.carried(ctx)
	if held == nil {
		return 0, nil
	}
	n, err := m.svc.rdb.HGet(ctx, m.key, held.own.owner).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, explain("look at", m.key, err)
	}
	return n, nil
}

// RemainingTTL is how long the present lease lasts: 0 when nobody holds the lock.
func (m *Mutex) RemainingTTL(ctx context.Context) (time.Duration, error) {
	left, err := m.svc.rdb.PTTL(ctx, m.key).Result()
	if err != nil {
		return 0, explain("look at", m.key, err)
	}
	return max(left, 0), nil
}

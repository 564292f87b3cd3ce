package stage6

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	// ErrLocked is returned by TryLock and TryLockFor when Redis has answered that
	// another owner holds the lock.
	ErrLocked = errors.New("stage6: lock is held by somebody else")
	// ErrUnanswered is returned by TryLockFor when its time ends before Redis has answered
	// whether the lock is held, and by a TryLock or TryLockFor that re-enters while Redis has
	// not answered an earlier re-entry.
	ErrUnanswered = errors.New("stage6: Redis has not answered in time")
	// ErrNotHeld is returned when a hold is released a second time, and by a Lock that re-enters while
	// the last hold is released.
	ErrNotHeld = errors.New("stage6: hold is released already")
	// ErrLost is returned when a hold has ended before it was released, and is the
	// cause with which its context ends.
	ErrLost = errors.New("stage6: hold is lost")
	// ErrClosed is returned by a closed Service, and is the cause with which the
	// contexts of its holds end.
	ErrClosed = errors.New("stage6: service is closed")
)

// Mutex is a lock that is shared by every process that uses the same Redis and
// the same name. It is safe for concurrent use.
type Mutex struct {
	svc                       *Service
	name, key, token, channel string

	// Made once, since each would be an allocation of every Lock.
	inContext         any   // the heldKey of this lock
	toAcquire, toFree []any // the first arguments of scripts
}

// Name returns the lock's name.
func (m *Mutex) Name() string { return m.name }

// Lock waits until the caller holds the lock. With a context that carries a hold of this
// lock it re-enters. The hold's context ends with ctx, so a deadline of ctx is for the
// work as well. It returns an error that wraps the context's error if ctx ends first,
// ErrLost with the context of a lost hold, and ErrClosed. It also returns a refusal of
// Redis that is not temporary, and, before Redis has said that the lock is held, the error of
// an attempt that got no answer: its own, or that of the waiter in front of it. A connection
// that was closed ends no wait.
func (m *Mutex) Lock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	return m.lock(ctx, ctx, opts)
}

// TryLock makes one attempt. If the grant arrives after its lease has ended, or a slot of a
// Cluster is migrating, it asks again, three times in all. It returns ErrLocked when another
// owner holds the lock. If it re-enters behind a re-entry that Redis does not answer, it returns
// ErrUnanswered after a sixtieth of the lease.
func (m *Mutex) TryLock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	return m.lock(ctx, nil, opts)
}

// TryLockFor waits for the lock, but no longer than wait. Then it returns ErrLocked, the error
// of the last attempt, or ErrUnanswered. It makes at least one attempt, unless other callers
// of this process wait in front of it. An attempt under way when wait ends is finished.
func (m *Mutex) TryLockFor(ctx context.Context, wait time.Duration, opts ...LockOption) (*Hold, error) {
	patience, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return m.lock(ctx, patience, opts)
}

// Do runs work while it holds the lock. It returns work's error unchanged, or joined with the
// error of the unlock, such as ErrLost if the hold was lost. A panic in work releases the
// lock and continues.
func (m *Mutex) Do(ctx context.Context, work func(context.Context) error, opts ...LockOption) (err error) {
	hold, err := m.Lock(ctx, opts...)
	if err != nil {
		return err
	}
	defer func() {
		if unlocked := hold.Unlock(); unlocked != nil {
			err = errors.Join(err, unlocked)
		}
	}()
	return work(hold.Context())
}

// ForceUnlock frees the lock, whichever client holds it, and reports whether it
// was held. The holder learns of it at its next renewal. A key that holds no lock is an
// error, and stays.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) {
	freed, err := m.svc.run(ctx, forceScript, m.toFree).Bool()
	return freed, m.explain(ctx, "force", err)
}

// IsLocked reports whether the lock is held. A key of that name that holds something else counts as
// a lock.
func (m *Mutex) IsLocked(ctx context.Context) (bool, error) {
	left, err := m.RemainingTTL(ctx)
	return left > 0, err
}

// IsHeld reports whether the owner that ctx carries holds the lock, as far as
// this process knows.
func (m *Mutex) IsHeld(ctx context.Context) bool {
	held := m.carried(ctx)
	if held == nil {
		return false
	}
	_, end, leased := held.own.state()
	return end == nil && leased
}

// Token returns the fencing token of the owner that ctx carries; 0 if ctx carries no hold.
func (m *Mutex) Token(ctx context.Context) int64 {
	if held := m.carried(ctx); held != nil {
		return held.own.token
	}
	return 0
}

// HoldCount returns how often the owner that ctx carries holds the lock, according
// to Redis. It is 0 if ctx carries no hold.
func (m *Mutex) HoldCount(ctx context.Context) (int, error) {
	held := m.carried(ctx)
	if held == nil {
		return 0, nil
	}
	n, err := m.ask(ctx, "'hget', KEYS[1], ARGV[1]", held.own.owner).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, m.explain(ctx, "look at", err)
}

// NoLease is the RemainingTTL of a lock that is held without a lease, or with one that is
// too long for a Duration.
const NoLease = time.Duration(math.MaxInt64)

// RemainingTTL returns how long the current lease lasts. It is 0 only if the lock is
// free.
func (m *Mutex) RemainingTTL(ctx context.Context) (time.Duration, error) {
	left, err := m.ask(ctx, "'pttl', KEYS[1]").Int64()
	switch {
	case err != nil || left == -2: // no key
		return 0, m.explain(ctx, "look at", err)
	case left == -1 || left > int64(NoLease/time.Millisecond):
		return NoLease, nil
	default: // 0: the last millisecond of the lease is running
		return max(time.Duration(left)*time.Millisecond, 1), nil
	}
}

// ask reads the lock's key in a script: a Cluster client with ReadOnly sends commands that only
// read to a replica, which may not have the key yet.
func (m *Mutex) ask(ctx context.Context, call string, args ...any) *redis.Cmd {
	return m.svc.rdb.Do(ctx, append([]any{"eval", "return redis.call(" + call + ")", 1, m.key}, args...)...)
}

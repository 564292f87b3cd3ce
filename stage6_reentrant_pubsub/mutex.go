package stage6

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	// ErrLocked is returned by TryLock and TryLockFor when Redis has said that another
	// owner holds the lock.
	ErrLocked = errors.New("stage6: lock is held by somebody else")
	// ErrUnanswered is returned by TryLockFor when its time ends before Redis has said
	// whether the lock is held, and by a TryLock or TryLockFor that re-enters while Redis has
	// not answered a re-entry before it.
	ErrUnanswered = errors.New("stage6: Redis has not answered in time")
	// ErrNotHeld is returned when a hold is released a second time.
	ErrNotHeld = errors.New("stage6: hold is released already")
	// ErrLost is returned when a hold has ended before it was released, and is the
	// cause with which its context ends.
	ErrLost = errors.New("stage6: hold is lost")
	// ErrClosed is returned by a closed Service, and is the cause with which the
	// contexts of its holds end.
	ErrClosed = errors.New("stage6: service is closed")
)

// Mutex is a lock that every process shares that uses the same Redis and the same
// name. It is safe for concurrent use.
type Mutex struct {
	svc                       *Service
	name, key, channel, token string

	inContext         any   // the heldKey of this lock
	toAcquire, toFree []any // what scripts get first
}

// Name is the lock's name.
func (m *Mutex) Name() string { return m.name }

// Lock waits until the caller holds the lock. With a context that carries a hold
// of this lock it re-enters. It returns an error that wraps the context's if ctx
// ends first, ErrLost with the context of a lost hold, and ErrClosed. It also returns
// the error of an attempt that has no answer, or a refusal that is not temporary: its own,
// or that of the caller in front of it.
func (m *Mutex) Lock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	return m.lock(ctx, ctx, opts)
}

// TryLock makes one attempt; when a grant comes after its lease is over, it asks again, three
// times in all. It returns ErrLocked when somebody else holds the lock.
func (m *Mutex) TryLock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	return m.lock(ctx, nil, opts)
}

// TryLockFor waits for the lock, but no longer than wait: then it returns ErrLocked, why
// the last attempt failed, or ErrUnanswered. It tries once at least, unless others of this
// process wait before it. If wait ends during an attempt, the attempt is finished.
func (m *Mutex) TryLockFor(ctx context.Context, wait time.Duration, opts ...LockOption) (*Hold, error) {
	patience, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return m.lock(ctx, patience, opts)
}

// Do runs work while it holds the lock. It returns work's error as it is, or joined with that
// of the unlock if the unlock failed: ErrLost if the hold was lost meanwhile. A panic in
// work releases the lock and goes on.
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

// ForceUnlock frees the lock whoever holds it, and tells whether anybody did. The
// holder learns of it at its next renewal.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) {
	freed, err := m.svc.run(ctx, forceScript, m.toFree).Bool()
	return freed, m.explain(ctx, "force", err)
}

// IsLocked tells whether anybody holds the lock.
func (m *Mutex) IsLocked(ctx context.Context) (bool, error) {
	left, err := m.RemainingTTL(ctx)
	return left > 0, err
}

// IsHeld tells whether the owner that ctx carries holds the lock, as far as this
// process knows.
func (m *Mutex) IsHeld(ctx context.Context) bool {
	held := m.carried(ctx)
	if held == nil {
		return false
	}
	_, end, leased := held.own.state()
	return end == nil && leased
}

// HoldCount is how often, according to Redis, the owner that ctx carries holds the
// lock: 0 for a stranger.
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
// longer than a Duration.
const NoLease = time.Duration(math.MaxInt64)

// RemainingTTL is how long the present lease lasts: 0 when nobody holds the lock, and only
// then.
func (m *Mutex) RemainingTTL(ctx context.Context) (time.Duration, error) {
	left, err := m.ask(ctx, "'pttl', KEYS[1]").Int64()
	switch {
	case err != nil || left == -2: // no key
		return 0, m.explain(ctx, "look at", err)
	case left == -1 || left > int64(NoLease/time.Millisecond):
		return NoLease, nil
	default: // 0 is a lease whose last millisecond runs
		return max(time.Duration(left)*time.Millisecond, 1), nil
	}
}

// ask looks at the lock's key, in a script: what only reads, a client of a Cluster with ReadOnly
// sends to a replica, which may not know of the lock yet.
func (m *Mutex) ask(ctx context.Context, call string, args ...any) *redis.Cmd {
	return m.svc.rdb.Do(ctx, append([]any{"eval", "return redis.call(" + call + ")", 1, m.key}, args...)...)
}

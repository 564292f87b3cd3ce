package adapters

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// Holding returns the constructor of a lock whose Lock and TryLock return a hold, an H. It uses the
// methods that the hold has:
//
//	Unlock or Release, with a context or without    frees the lock
//	Context() context.Context                       ends with the hold; its cause is lost when the hold is lost
//	Token() int64                                   the fencing token
//
// and those of the lock:
//
//	HoldCount(context.Context) (int, error)         how often the caller holds it: [world.Counting]
//	ForceUnlock(context.Context) (bool, error)      frees it, even another client's: [world.Forcing]
//
// TryLock returns taken if another client holds the lock. For other method names, fill in a
// [Holds].
func Holding[H any, L interface {
	Lock(context.Context) (H, error)
	TryLock(context.Context) (H, error)
}](newLock func(redis.UniversalClient, string, time.Duration) (L, error), taken, lost error) world.Constructor {
	return func(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
		lock, err := newLock(clientsOf(p)[0], name, lease)
		if err != nil {
			return nil, err
		}
		h := NewHolds(lock.Lock, lock.TryLock, taken, lost)
		h.causes = h.Inside != nil && lost != nil
		counting, _ := any(lock).(world.Counting)
		forcing, _ := any(lock).(world.Forcing)
		switch {
		case counting != nil && forcing != nil:
			return whole[H]{counted[H]{h, counting}, forcing}, nil
		case counting != nil:
			return counted[H]{h, counting}, nil
		}
		return h, nil
	}
}

// counted is a lock that counts its holds.
type counted[H any] struct {
	*Holds[H]
	lock world.Counting
}

// HoldCount asks with the context of the caller's newest hold.
func (c counted[H]) HoldCount(ctx context.Context) (int, error) {
	nested, cancel := c.Nest(ctx)
	defer cancel()
	return c.lock.HoldCount(nested)
}

// whole is a counted lock with ForceUnlock.
type whole[H any] struct {
	counted[H]
	world.Forcing
}

// NewHolds returns a Holds for a lock with these two acquire functions, of which try makes one
// attempt; see [Holding].
func NewHolds[H any](acquire, try func(context.Context) (H, error), taken, lost error) *Holds[H] {
	var none H
	h := &Holds[H]{Acquire: acquire, Try: try, Taken: taken, Release: releaseOf[H]}
	if _, has := any(none).(interface{ Context() context.Context }); has {
		inside := func(hold H) context.Context { return any(hold).(interface{ Context() context.Context }).Context() }
		h.Inside = inside
		h.Loss = func(hold H) (<-chan struct{}, func() bool) {
			held := inside(hold)
			return held.Done(), func() bool { return context.Cause(held) == lost }
		}
	}
	if _, has := any(none).(interface{ Token() int64 }); has {
		h.Fence = func(hold H) int64 { return any(hold).(interface{ Token() int64 }).Token() }
	}
	return h
}

// releaseOf frees the lock with the method of the hold that exists.
func releaseOf[H any](hold H, ctx context.Context) error {
	switch hold := any(hold).(type) {
	case interface{ Unlock() error }:
		return hold.Unlock()
	case interface{ Unlock(context.Context) error }:
		return hold.Unlock(ctx)
	case interface{ Release() error }:
		return hold.Release()
	case interface{ Release(context.Context) error }:
		return hold.Release(ctx)
	}
	return ErrNoRelease
}

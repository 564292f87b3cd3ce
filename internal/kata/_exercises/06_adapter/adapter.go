package mylock

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// Subject shows the lock to the failures: it has an API of its own, so they need
// an adapter.
func Subject() failures.Subject {
	with := func(limited, fixed bool) world.New {
		return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			opts := []Option{WithWatchdogTimeout(lease)}
			if limited {
				opts = append(opts, WithMaxHold(3*lease))
			}
			var lock []LockOption
			if fixed {
				lock = append(lock, Lease(lease))
			}
			return newHolder(rdb, name, opts, lock)
		}
	}
	return failures.Subject{
		Name: "mylock", New: with(false, false),
		Variants: map[failures.Variant]world.New{failures.FixedLease: with(false, true), failures.Limited: with(true, false)},
		Ignore:   func(key string) bool { return strings.HasSuffix(key, ":token") },
		Has: []failures.Feature{
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force,
		},
	}
}

// holder makes a Mutex a Locker. A Locker's Unlock names no hold, so the holder
// remembers the holds of each client, newest last, and hands the newest one's
// context to a nested Lock, as a program does that passes hold.Context() on.
type holder struct {
	svc   *Service
	mutex *Mutex
	opts  []LockOption

	mu    sync.Mutex
	holds map[string][]*Hold
}

func newHolder(rdb redis.UniversalClient, name string, opts []Option, lock []LockOption) (failures.Locker, error) {
	svc, err := NewService(rdb, opts...)
	if err != nil {
		return nil, err
	}
	m, err := svc.Mutex(name)
	if err != nil {
		return nil, err
	}
	return &holder{svc: svc, mutex: m, opts: lock, holds: map[string][]*Hold{}}, nil
}

// Lock waits for the lock, or re-enters.
func (h *holder) Lock(ctx context.Context) error {
	nested, cancel := h.nest(ctx)
	hold, err := h.mutex.Lock(nested, h.opts...)
	return h.keep(ctx, hold, err, cancel)
}

// TryLock makes one attempt.
func (h *holder) TryLock(ctx context.Context) (bool, error) {
	nested, cancel := h.nest(ctx)
	hold, err := h.mutex.TryLock(nested, h.opts...)
	if err = h.keep(ctx, hold, err, cancel); err == ErrLocked {
		return false, nil
	}
	return err == nil, err
}

// Unlock releases the client's newest hold. A client without one has nothing to
// release, and nothing to release it with.
func (h *holder) Unlock(ctx context.Context) error {
	h.mu.Lock()
	holds := h.holds[world.Lane(ctx)]
	if len(holds) == 0 {
		h.mu.Unlock()
		return ErrNotHeld
	}
	newest := holds[len(holds)-1]
	h.holds[world.Lane(ctx)] = holds[:len(holds)-1]
	h.mu.Unlock()
	return newest.Unlock()
}

// nest gives a client that holds the lock a context that carries its hold, and
// ends with ctx.
func (h *holder) nest(ctx context.Context) (context.Context, context.CancelFunc) {
	newest := h.newest(ctx)
	if newest == nil {
		return ctx, func() {}
	}
	nested, cancel := context.WithCancel(newest.Context())
	if at, limited := ctx.Deadline(); limited {
		cancel()
		nested, cancel = context.WithDeadline(newest.Context(), at)
	}
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled { // its deadline is the nested context's own
			cancel()
		}
	})
	return nested, func() { stop(); cancel() }
}

func (h *holder) newest(ctx context.Context) *Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	holds := h.holds[world.Lane(ctx)]
	if len(holds) == 0 {
		return nil
	}
	return holds[len(holds)-1]
}

// keep remembers a hold. Its context is made from the nested one, which cancel
// ends: only a failure may do that.
func (h *holder) keep(ctx context.Context, hold *Hold, err error, cancel context.CancelFunc) error {
	if err != nil {
		cancel()
		return err
	}
	h.mu.Lock()
	h.holds[world.Lane(ctx)] = append(h.holds[world.Lane(ctx)], hold)
	h.mu.Unlock()
	return nil
}

// Token is the fencing token of the client's newest hold.
func (h *holder) Token(ctx context.Context) int64 {
	if newest := h.newest(ctx); newest != nil {
		return newest.Token()
	}
	return 0
}

// Lost tells when the client's newest hold ends, and whether it was lost.
func (h *holder) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	newest := h.newest(ctx)
	if newest == nil {
		return nil, nil
	}
	held := newest.Context()
	return held.Done(), func() bool { return context.Cause(held) == ErrLost }
}

// HoldCount is how often the client holds the lock.
func (h *holder) HoldCount(ctx context.Context) (int, error) {
	nested, cancel := h.nest(ctx)
	defer cancel()
	return h.mutex.HoldCount(nested)
}

// ForceUnlock frees the lock whoever holds it.
func (h *holder) ForceUnlock(ctx context.Context) (bool, error) { return h.mutex.ForceUnlock(ctx) }

// Close ends the service.
func (h *holder) Close() error { return h.svc.Close() }

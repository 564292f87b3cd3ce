package main

import (
	"context"
	"time"
)

// side is a process, or many, that lock with one library.
type side interface {
	// Name is the library's.
	Name() string
	// Owner is a new owner of the lock of that name: a context in Go, a thread in
	// Redisson.
	Owner(lock string) (owner, error)
	// IsLocked tells whether anybody holds the lock.
	IsLocked(ctx context.Context, lock string) (bool, error)
	// TTL is how long the present lease lasts, 0 when nobody holds the lock.
	TTL(ctx context.Context, lock string) (time.Duration, error)
	// ForceUnlock frees the lock whoever holds it, and tells whether anybody did.
	ForceUnlock(ctx context.Context, lock string) (bool, error)
	// Doomed starts a process that holds the lock, to be killed.
	Doomed(ctx context.Context, lock string) (doomed, error)
}

// owner is somebody who locks one lock.
type owner interface {
	// Lock waits for the lock, or re-enters.
	Lock(ctx context.Context) error
	// LockFor is Lock with a lease that is not renewed.
	LockFor(ctx context.Context, lease time.Duration) error
	// TryLock returns false when somebody else holds the lock.
	TryLock(ctx context.Context) (bool, error)
	// Unlock releases one hold. It returns false when it was the owner's no more.
	Unlock(ctx context.Context) (bool, error)
	// IsHeld tells whether the owner holds the lock, as far as it can know.
	IsHeld(ctx context.Context) (bool, error)
	// HoldCount is how often the owner holds the lock.
	HoldCount(ctx context.Context) (int, error)
}

// doomed is a process that can be killed with -9.
type doomed interface{ Kill() }

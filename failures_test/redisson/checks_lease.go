package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// agreesOnTTL asks both sides in turn for the lease that a has left. Nothing
// renews it, so no answer may be higher than the one before.
func agreesOnTTL(ctx context.Context, r *round) (string, error) {
	a, err := r.a.Owner(r.lock)
	if err != nil {
		return "", err
	}
	const given = 5 * time.Second
	if err := a.LockFor(ctx, given); err != nil {
		return "", err
	}
	last := given
	for _, s := range []side{r.a, r.b, r.a, r.b} {
		left, err := s.TTL(ctx, r.lock)
		if err != nil {
			return "", err
		}
		if left > last || left == 0 {
			return "", fmt.Errorf("%s says that %v of the lease is left, where it was %v before", s.Name(), left, last)
		}
		last = left
	}
	if err := unlockHeld(ctx, a); err != nil {
		return "", err
	}
	for _, s := range []side{r.a, r.b} {
		if left, err := s.TTL(ctx, r.lock); left != 0 || err != nil {
			return "", errors.Join(fmt.Errorf("%s says that a free lock has a lease of %v", s.Name(), left), err)
		}
	}
	return fmt.Sprintf("%v of %v left", last, given), nil
}

// renews has a hold the lock for longer than its first lease, while b looks at it
// and tries to get it.
func renews(ctx context.Context, r *round) (string, error) {
	a, b, err := r.owners()
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := a.Lock(ctx); err != nil {
		return "", err
	}
	renewals, last := 0, lease
	for time.Since(start) < lease*5/4 || renewals < 2 {
		left, err := r.b.TTL(ctx, r.lock)
		if err != nil {
			return "", err
		}
		if left == 0 {
			return "", fmt.Errorf("the lease ended after %v and %d renewals", time.Since(start).Round(time.Millisecond), renewals)
		}
		if left > last {
			renewals++
		}
		last = left
		if err := isRefused(ctx, b, "that is renewed"); err != nil {
			return "", err
		}
		if err := sleep(ctx, lease/40); err != nil {
			return "", err
		}
	}
	held := time.Since(start)
	if err := unlockHeld(ctx, a); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d renewals in %.1f leases", renewals, float64(held)/float64(lease)), takesAndReturns(ctx, b)
}

// late is how long after a lease a waiter may come that nobody wakes.
const late = 2 * lease

func expires(ctx context.Context, r *round) (string, error) {
	a, err := r.a.Owner(r.lock)
	if err != nil {
		return "", err
	}
	const given = 400 * time.Millisecond
	start := time.Now()
	if err := a.LockFor(ctx, given); err != nil {
		return "", err
	}
	next, err := r.b.Owner(r.lock)
	if err != nil {
		return "", err
	}
	waiting, cancel := context.WithTimeout(ctx, given+late)
	defer cancel()
	if err := next.Lock(waiting); err != nil {
		return "", fmt.Errorf("nobody gets the lock when its lease is over: %w", err)
	}
	waited := time.Since(start)
	if waited < given {
		return "", fmt.Errorf("the waiter got the lock after %v of a lease of %v", waited, given)
	}
	if err := r.untilNoticed(ctx, a); err != nil {
		return "", err
	}
	if held, err := a.Unlock(ctx); held || err != nil {
		return "", fmt.Errorf("the owner unlocked what was its no more: %v", err)
	}
	if n, err := next.HoldCount(ctx); n != 1 || err != nil {
		return "", fmt.Errorf("the late unlock disturbed the next owner, whose count is %d: %v", n, err)
	}
	return fmt.Sprintf("%s after a lease of %v", millis(waited-given), given), unlockHeld(ctx, next)
}

// untilNoticed waits until the owner knows that it holds the lock no more: at its
// next renewal, at the latest.
func (r *round) untilNoticed(ctx context.Context, o owner) error {
	ctx, cancel := context.WithTimeout(ctx, lease+late)
	defer cancel()
	for {
		held, err := o.IsHeld(ctx)
		if err != nil {
			return err
		}
		if !held {
			return nil
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return fmt.Errorf("the owner does not notice that it holds the lock no more: %w", err)
		}
	}
}

// outlivesKilled kills a process of a that holds the lock. Its last lease is left.
func outlivesKilled(ctx context.Context, r *round) (string, error) {
	victim, err := r.a.Doomed(ctx, r.lock)
	if err != nil {
		return "", err
	}
	defer victim.Kill()
	next, err := r.b.Owner(r.lock)
	if err != nil {
		return "", err
	}
	if err := isRefused(ctx, next, "of a process that lives"); err != nil {
		return "", err
	}
	victim.Kill()
	asked := time.Now()
	left, err := r.b.TTL(ctx, r.lock)
	if err != nil {
		return "", err
	}
	waiting, cancel := context.WithTimeout(ctx, left+late)
	defer cancel()
	if err := next.Lock(waiting); err != nil {
		return "", fmt.Errorf("nobody gets the lock of a dead process %v after its lease: %w", late, err)
	}
	waited := time.Since(asked)
	if waited < left-time.Millisecond { // Redis counts in whole milliseconds
		return "", fmt.Errorf("the lock changed hands after %v, with %v of the dead process's lease left", waited, left)
	}
	return fmt.Sprintf("%s after the %v that were left", millis(waited-left), left), unlockHeld(ctx, next)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

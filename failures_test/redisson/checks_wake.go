package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// wakeWithin is how long the median wake-up may take, from just before the unlock
// is asked for until the other side's Lock has returned. All times are this
// process's, so for Redisson they include the way to the Java process.
const wakeWithin = 50 * time.Millisecond

func wakes(ctx context.Context, r *round) (string, error) {
	return wakeUps(ctx, r.rdb, r.a, r.b, r.newLock, r.repeat)
}

// wakeUps measures how long b waits for what a unlocks. It stops when the median
// cannot be good any more.
func wakeUps(ctx context.Context, rdb *redis.Client, a, b side, newLock func() string, repeat int) (string, error) {
	var took []time.Duration
	late := 0
	for range repeat {
		d, err := wakeUp(ctx, rdb, a, b, newLock())
		if err != nil {
			return "", err
		}
		took = append(took, d)
		if d > wakeWithin {
			late++
		}
		if 2*late > repeat {
			break
		}
	}
	slices.Sort(took)
	measured := fmt.Sprintf("median %s, max %s of %d", millis(took[len(took)/2]), millis(took[len(took)-1]), len(took))
	if 2*late > repeat {
		return "", fmt.Errorf("not woken within %v: %s", wakeWithin, measured)
	}
	return measured, nil
}

// wakeUp is one of them.
func wakeUp(ctx context.Context, rdb *redis.Client, a, b side, lock string) (time.Duration, error) {
	holder, err := a.Owner(lock)
	if err != nil {
		return 0, err
	}
	if err := holder.Lock(ctx); err != nil {
		return 0, err
	}
	next, err := startWaiter(ctx, rdb, b, lock)
	if err != nil {
		return 0, err
	}
	if next.has() {
		return 0, fmt.Errorf("%s got a lock that is held", b.Name())
	}
	start := time.Now()
	if err := unlockHeld(ctx, holder); err != nil {
		return 0, err
	}
	at, err := next.wait(ctx)
	if err != nil {
		return 0, err
	}
	return at.Sub(start), unlockHeld(ctx, next)
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// staysAsleep listens to what b's waiter hears while a re-enters and unlocks in
// part: nothing, until the last unlock, and that once.
func staysAsleep(ctx context.Context, r *round) (string, error) {
	a, err := r.a.Owner(r.lock)
	if err != nil {
		return "", err
	}
	if err := a.Lock(ctx); err != nil {
		return "", err
	}
	next, err := startWaiter(ctx, r.rdb, r.b, r.lock)
	if err != nil {
		return "", err
	}
	spy, err := r.newSpy(ctx, r.lock)
	if err != nil {
		return "", err
	}
	defer spy.Close()
	const depth = 3
	for range depth {
		if err := a.Lock(ctx); err != nil {
			return "", err
		}
	}
	for range depth {
		if err := unlockHeld(ctx, a); err != nil {
			return "", err
		}
	}
	heard, err := spy.heard(ctx)
	if err != nil {
		return "", err
	}
	if len(heard) > 0 {
		return "", fmt.Errorf("%d messages before the last unlock: %q", len(heard), heard)
	}
	if next.has() {
		return "", fmt.Errorf("the waiter got the lock before the last unlock")
	}
	if err := unlockHeld(ctx, a); err != nil {
		return "", err
	}
	if _, err := next.wait(ctx); err != nil {
		return "", err
	}
	if err := spy.heardUnlock(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d partial unlocks: no message, the last: one", depth), unlockHeld(ctx, next)
}

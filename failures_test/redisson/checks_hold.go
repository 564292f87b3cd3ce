package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func excludes(ctx context.Context, r *round) (string, error) {
	a, b, err := r.owners()
	if err != nil {
		return "", err
	}
	if got, err := a.TryLock(ctx); !got || err != nil {
		return "", fmt.Errorf("a free lock is refused: %v", err)
	}
	if err := isRefused(ctx, b, "that is held"); err != nil {
		return "", err
	}
	if held, err := b.Unlock(ctx); held || err != nil {
		return "", fmt.Errorf("the other side unlocked what it does not hold: %v", err)
	}
	if err := unlockHeld(ctx, a); err != nil {
		return "", err
	}
	return "", takesAndReturns(ctx, b)
}

// contends has owners of both sides take turns as fast as they can.
func contends(ctx context.Context, r *round) (string, error) {
	const ownersEach, turns = 3, 10
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var inside, served atomic.Int64
	work := func(s side) error {
		o, err := s.Owner(r.lock)
		if err != nil {
			return err
		}
		for range turns {
			if err := o.Lock(ctx); err != nil {
				return err
			}
			if n := inside.Add(1); n != 1 {
				return fmt.Errorf("%d owners are inside at one time", n)
			}
			time.Sleep(2 * time.Millisecond) // long enough for another to come in
			served.Add(1)
			inside.Add(-1)
			if err := unlockHeld(ctx, o); err != nil {
				return err
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for range ownersEach {
		for _, side := range []side{r.a, r.b} {
			all.Go(func() {
				if err := work(side); err != nil {
					cancel(err) // the others need not wait for what it left
				}
			})
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return fmt.Sprintf("%d owners, %d turns", 2*ownersEach, served.Load()), nil
}

// counts has a re-enter, and looks at every step at the hash and through both
// sides.
func counts(ctx context.Context, r *round) (string, error) {
	a, b, err := r.owners()
	if err != nil {
		return "", err
	}
	const deepest = 3
	steps := []int{1, 2, deepest, 2, deepest, 2, 1}
	depth := 0
	for _, want := range steps {
		if want > depth {
			err = a.Lock(ctx)
		} else {
			err = unlockHeld(ctx, a)
		}
		if err != nil {
			return "", fmt.Errorf("from count %d to %d: %w", depth, want, err)
		}
		depth = want
		if err := r.sees(ctx, a, want); err != nil {
			return "", err
		}
		if err := isRefused(ctx, b, fmt.Sprintf("whose count is %d", want)); err != nil {
			return "", err
		}
	}
	if err := unlockHeld(ctx, a); err != nil {
		return "", err
	}
	if err := r.sees(ctx, a, 0); err != nil {
		return "", err
	}
	return fmt.Sprintf("up to %d and down", deepest), takesAndReturns(ctx, b)
}

// sees compares what the hash, the owner and both sides say.
func (r *round) sees(ctx context.Context, o owner, want int) error {
	hash, err := r.rdb.HGetAll(ctx, r.lock).Result()
	if err != nil {
		return err
	}
	if want > 0 && len(hash) != 1 || want == 0 && len(hash) != 0 {
		return fmt.Errorf("the hash is %v where the count is %d", hash, want)
	}
	for field, count := range hash {
		if count != strconv.Itoa(want) {
			return fmt.Errorf("the hash says {%s: %s} where the count is %d", field, count, want)
		}
	}
	if n, err := o.HoldCount(ctx); n != want || err != nil {
		return errors.Join(fmt.Errorf("the owner's hold count is %d, not %d", n, want), err)
	}
	for _, s := range []side{r.a, r.b} {
		locked, err := s.IsLocked(ctx, r.lock)
		if err != nil || locked != (want > 0) {
			return errors.Join(fmt.Errorf("%s says locked: %t where the count is %d", s.Name(), locked, want), err)
		}
	}
	return nil
}

// forces has b force the lock of a, for which a waiter of a's own side waits.
func forces(ctx context.Context, r *round) (string, error) {
	a, err := r.a.Owner(r.lock)
	if err != nil {
		return "", err
	}
	if err := a.Lock(ctx); err != nil {
		return "", err
	}
	next, err := startWaiter(ctx, r.rdb, r.a, r.lock)
	if err != nil {
		return "", err
	}
	spy, err := r.newSpy(ctx, r.lock)
	if err != nil {
		return "", err
	}
	defer spy.Close()
	start := time.Now()
	if forced, err := r.b.ForceUnlock(ctx, r.lock); !forced || err != nil {
		return "", fmt.Errorf("a held lock cannot be forced: %v", err)
	}
	if err := spy.heardUnlock(ctx); err != nil {
		return "", err
	}
	at, err := next.wait(ctx)
	if err != nil {
		return "", err
	}
	woken := at.Sub(start)
	if err := r.untilNoticed(ctx, a); err != nil {
		return "", err
	}
	noticed := time.Since(start)
	if held, err := a.Unlock(ctx); held || err != nil {
		return "", fmt.Errorf("the owner unlocked what was taken from it: %v", err)
	}
	if n, err := next.HoldCount(ctx); n != 1 || err != nil {
		return "", fmt.Errorf("the late unlock disturbed the next owner, whose count is %d: %v", n, err)
	}
	if err := unlockHeld(ctx, next); err != nil {
		return "", err
	}
	if forced, err := r.b.ForceUnlock(ctx, r.lock); forced || err != nil {
		return "", fmt.Errorf("a free lock was forced: %v", err)
	}
	return fmt.Sprintf("waiter woken after %s, owner sees it after %s", millis(woken), millis(noticed)), nil
}

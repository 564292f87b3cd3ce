package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// agreedNames are names with and without hash tags, whole ones and odd ones. Go
// and Redisson have to agree on all of them where nobody counts slots. (stage 6
// refuses an empty name, and one that starts with }.)
var agreedNames = []string{
	"order", "order 1001", "订单", "{order}:1001", "a{b}c", "{a}{b}", "a}b", "a{b", "{}x", "{}", "{", "{{a}}", "a*b?",
}

// namesAgree has b wait for each name, and looks at which channel it listens and
// to which one a publishes.
func namesAgree(ctx context.Context, r *round) (string, error) {
	for i, name := range agreedNames {
		lock := fmt.Sprintf("%s#%s%d", name, r.lock, i) // new for each check, and its braces stay
		if err := r.nameAgrees(ctx, lock); err != nil {
			return "", fmt.Errorf("%q: %w", lock, err)
		}
	}
	return fmt.Sprintf("%d names, one channel each", len(agreedNames)), nil
}

func (r *round) nameAgrees(ctx context.Context, lock string) error {
	holder, err := r.a.Owner(lock)
	if err != nil {
		return err
	}
	if err := holder.Lock(ctx); err != nil {
		return err
	}
	next, err := startWaiter(ctx, r.rdb, r.b, lock)
	if err != nil {
		return err
	}
	listens, err := channels(ctx, r.rdb, lock)
	if err != nil {
		return err
	}
	if len(listens) != 1 || listens[0] != redissonChannel(lock) {
		return fmt.Errorf("%s listens to %q", r.b.Name(), listens)
	}
	spy, err := r.newSpy(ctx, lock)
	if err != nil {
		return err
	}
	defer spy.Close()
	if err := unlockHeld(ctx, holder); err != nil {
		return err
	}
	if err := spy.heardUnlock(ctx); err != nil {
		return err
	}
	if _, err := next.wait(ctx); err != nil {
		return err
	}
	return unlockHeld(ctx, next)
}

// tokensRise looks at the key of the fencing token, which Redisson neither reads
// nor writes: the order of a Redisson hold and the holds around it is not in it,
// but the Go holds are in order all the same.
func tokensRise(ctx context.Context, r *round) (string, error) {
	g := r.a.(*goSide)
	first, err := g.token(ctx, r.lock)
	if err != nil {
		return "", err
	}
	key := g.variant.Layout.Token(r.lock)
	before, err := r.rdb.Get(ctx, key).Result()
	if err != nil {
		return "", err
	}
	java, err := r.b.Owner(r.lock)
	if err != nil {
		return "", err
	}
	if err := java.Lock(ctx); err != nil {
		return "", err
	}
	after, err := r.rdb.Get(ctx, key).Result()
	if err := errors.Join(err, unlockHeld(ctx, java)); err != nil {
		return "", err
	}
	if after != before {
		return "", fmt.Errorf("%s changed the token from %s to %s", r.b.Name(), before, after)
	}
	second, err := g.token(ctx, r.lock)
	if err != nil {
		return "", err
	}
	if second <= first {
		return "", fmt.Errorf("the token went from %d to %d", first, second)
	}
	return fmt.Sprintf("%d more; %s leaves it alone", second-first, r.b.Name()), nil
}

// token is that of one hold.
func (s *goSide) token(ctx context.Context, lock string) (int64, error) {
	m, err := s.svc.Mutex(lock)
	if err != nil {
		return 0, err
	}
	hold, err := m.Lock(ctx)
	if err != nil {
		return 0, err
	}
	return hold.Token(), hold.Unlock()
}

// slotsAgree finds out which of the names work in a Cluster. Redisson's unlock has
// lock and channel as keys, stage 6's acquire lock and token; both refuse keys of
// more than one slot. A name that Redisson can use, Go must be able to use, and
// one that Go refuses must not stay locked.
func slotsAgree(ctx context.Context, r *round) (string, error) {
	var neither []string
	for i, name := range agreedNames {
		lock := fmt.Sprintf("%s#%s%d", name, r.lock, i)
		inJava, inGo := usable(ctx, r.b, lock+"j"), usable(ctx, r.a, lock+"g")
		if inJava == nil && inGo != nil {
			return "", fmt.Errorf("%s can use %q, %s cannot: %w", r.b.Name(), name, r.a.Name(), inGo)
		}
		left, err := r.rdb.Exists(ctx, lock+"g").Result()
		if err != nil || left > 0 {
			return "", errors.Join(fmt.Errorf("%s leaves %q locked", r.a.Name(), name), err)
		}
		if inJava != nil {
			neither = append(neither, fmt.Sprintf("%q (Go: %s)", name, word(inGo)))
		}
	}
	return "Redisson cannot use " + strings.Join(neither, ", "), nil
}

func word(err error) string {
	if err != nil {
		return "no"
	}
	return "yes"
}

// usable is the error of a lock and unlock.
func usable(ctx context.Context, s side, lock string) error {
	o, err := s.Owner(lock)
	if err != nil {
		return err
	}
	if err := o.Lock(ctx); err != nil {
		return err
	}
	return unlockHeld(ctx, o)
}

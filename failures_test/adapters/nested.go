package adapters

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// Another is in the name of each lock that a process has beyond the one that is judged.
const Another = "another:"

// AnotherName returns a lock name that no other process has, and with it a slot of its own.
func AnotherName() string { return "{" + Another + uuid.NewString() + "}" }

// Nested makes a lock whose holder takes another one first, of the same kind.
func Nested(newLock world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return InTurn(newLock)(rdb, AnotherName()+world.And+name, lease)
	}
}

// InTurn makes one lock of two of the same kind, whose names are joined by [world.And]. They are taken
// one after the other.
func InTurn(newLock world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, names string, lease time.Duration) (world.Locker, error) {
		first, second, _ := strings.Cut(names, world.And)
		outer, err := newLock(rdb, first, lease)
		if err != nil {
			return nil, err
		}
		inner, err := newLock(rdb, second, lease)
		return Around(outer, inner), err
	}
}

// Around returns inner as a lock whose holder takes outer first, and releases it last.
func Around(outer, inner world.Locker) world.Locker {
	return &nested{outer: outer, inner: inner, leave: func() {}}
}

type nested struct {
	outer, inner world.Locker
	leave        context.CancelFunc // ends the context of the inner lock
}

// within returns the context with which the holder of the outer lock takes the inner one: that of
// its hold, where holds have one.
func (n *nested) within(ctx context.Context) context.Context {
	if holding, ok := n.outer.(interface {
		Nest(context.Context) (context.Context, context.CancelFunc)
	}); ok {
		ctx, n.leave = holding.Nest(ctx)
	}
	return ctx
}

func (n *nested) Lock(ctx context.Context) error {
	if err := n.outer.Lock(ctx); err != nil {
		return err
	}
	err := n.inner.Lock(n.within(ctx))
	if err != nil {
		_ = n.release(ctx) // err is what the caller asked for
	}
	return err
}

func (n *nested) TryLock(ctx context.Context) (bool, error) {
	if held, err := n.outer.TryLock(ctx); err != nil || !held {
		return false, err
	}
	held, err := n.inner.TryLock(n.within(ctx))
	if !held {
		_ = n.release(ctx) // as above
	}
	return held, err
}

func (n *nested) release(ctx context.Context) error {
	n.leave()
	return n.outer.Unlock(context.WithoutCancel(ctx))
}

func (n *nested) Unlock(ctx context.Context) error {
	err := n.inner.Unlock(ctx)
	n.leave()
	return errors.Join(err, n.outer.Unlock(ctx))
}

// Close ends what the locks have beyond their holds.
func (n *nested) Close() (err error) {
	for _, lock := range []world.Locker{n.inner, n.outer} {
		if closer, ok := lock.(io.Closer); ok {
			err = errors.Join(err, closer.Close())
		}
	}
	return err
}

package adapters

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"lockkata/failures_test/world"
)

// Another is part of the name of each further lock of a process.
const Another = "another:"

// AnotherName returns a unique lock name with its own Cluster slot.
func AnotherName() string { return "{" + Another + uuid.NewString() + "}" }

// Nested returns a constructor of a lock that first takes another lock of the same kind.
func Nested(newLock world.Constructor) world.Constructor {
	return func(p *world.Process, name string, lease time.Duration) (world.Locker, error) {
		outer, err := newLock(p, AnotherName(), lease)
		if err != nil {
			return nil, err
		}
		inner, err := newLock(p, name, lease)
		return Around(outer, inner), err
	}
}

// Around returns a lock that takes outer and then inner, and releases them in reverse order.
func Around(outer, inner world.Locker) world.Locker {
	return &nested{outer: outer, inner: inner, leave: func() {}}
}

type nested struct {
	outer, inner world.Locker
	leave        context.CancelFunc // ends the context of the inner lock
}

var errForeign = errors.New("the context of the hold does not come from the one that its Lock got")

// within returns the context for the acquire of the inner lock: that of the outer hold if it has
// one. It has to come from the caller's, whose values and end it has.
func (n *nested) within(ctx context.Context) (context.Context, error) {
	caller := world.ClientName(ctx)
	if holding, ok := n.outer.(interface {
		Nest(context.Context) (context.Context, context.CancelFunc)
	}); ok {
		ctx, n.leave = holding.Nest(ctx)
	}
	if world.ClientName(ctx) != caller {
		return ctx, errForeign
	}
	return ctx, nil
}

func (n *nested) Lock(ctx context.Context) error {
	if err := n.outer.Lock(ctx); err != nil {
		return err
	}
	inside, err := n.within(ctx)
	if err == nil {
		err = n.inner.Lock(inside)
	}
	if err != nil {
		_ = n.release(ctx) // err is more important
	}
	return err
}

func (n *nested) TryLock(ctx context.Context) (bool, error) {
	if held, err := n.outer.TryLock(ctx); err != nil || !held {
		return false, err
	}
	inside, err := n.within(ctx)
	held := false
	if err == nil {
		held, err = n.inner.TryLock(inside)
	}
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

// Lost is that of the inner lock, if it reports losses.
func (n *nested) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	if inner, ok := n.inner.(world.Noticing); ok {
		return inner.Lost(ctx)
	}
	return nil, nil
}

// Close closes both locks.
func (n *nested) Close() (err error) {
	for _, lock := range []world.Locker{n.inner, n.outer} {
		if closer, ok := lock.(io.Closer); ok {
			err = errors.Join(err, closer.Close())
		}
	}
	return err
}

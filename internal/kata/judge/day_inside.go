package judge

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// inside is two locks of one process. TryLock takes the second with the context of the first
// one's hold, as a holder does that needs another lock as well; Unlock frees the newest.
type inside struct {
	world.Locker // the first
	second       world.Locker
	leave        context.CancelFunc // ends the context of the second; nil while nobody tries it
}

// nested makes such pairs.
func nested(create world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		first, err := create(rdb, name, lease)
		if err != nil {
			return nil, err
		}
		second, err := create(rdb, name+":another", lease)
		return &inside{Locker: first, second: second}, err
	}
}

// TryLock takes the second lock.
func (l *inside) TryLock(ctx context.Context) (bool, error) {
	l.leave = func() {}
	if first, ok := l.Locker.(interface {
		Nest(context.Context) (context.Context, context.CancelFunc)
	}); ok {
		ctx, l.leave = first.Nest(ctx)
	}
	return l.second.TryLock(ctx)
}

// Unlock frees the newest lock.
func (l *inside) Unlock(ctx context.Context) error {
	if l.leave == nil {
		return l.Locker.Unlock(ctx)
	}
	defer func() { l.leave(); l.leave = nil }()
	return l.second.Unlock(ctx)
}

// Close ends locks that have to be ended.
func (l *inside) Close() error {
	var all []error
	for _, lock := range []world.Locker{l.second, l.Locker} {
		all = append(all, closed(lock))
	}
	return errors.Join(all...)
}

var (
	reentersOther = i18n.New("A holds the lock named \"{name}\". With the context of that hold it takes the one named \"{other}\", " +
		"and is told that it has it, but there is no new key in Redis: it has taken the first one twice.")
	nameInContext = i18n.New("A hold in a context belongs to one lock: make the key of the context's value from the lock's name too.")
)

// takeInside: whoever holds one lock and takes another has both.
func (d *day) takeInside() {
	a := d.w.Client("A")
	if !d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) {
		return
	}
	held := len(d.now().Keys)
	if !d.takes(a.TryLock(world.Within(d.w.Lease)), getsFree) {
		return
	}
	if len(d.now().Keys) <= held {
		d.fault(Nonsense, nameInContext, reentersOther.Args("name", d.w.Lock, "other", d.w.Lock+":another"))
		return
	}
	_ = d.ends(a.Unlock(world.Within(d.w.Lease))) && d.frees(a.Unlock(world.Within(d.w.Lease)))
}

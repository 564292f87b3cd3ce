package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// limitedLocker is redislock with one Options for all calls, as in a field of a
// service: three retries, 100 ms apart.
type limitedLocker struct {
	*redislockLocker
	options *redislock.Options
}

// Lock makes up to four attempts.
func (l limitedLocker) Lock(ctx context.Context) error { return l.obtain(ctx, l.options) }

func tryLimitRetry(b bench) (evidence, error) {
	config := world.Config{New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		l, err := newRedislock(rdb, name, lease)
		if err != nil {
			return nil, err
		}
		retry := redislock.LimitRetry(redislock.LinearBackoff(100*time.Millisecond), 3)
		return limitedLocker{l.(*redislockLocker), &redislock.Options{RetryStrategy: retry}}, nil
	}}
	var first, second *world.Call
	trace, err := b.runKnown(config, func(w *world.World) {
		a, c := w.Client("A"), w.Client("B")
		a.TryLock()
		first, second = c.Lock(), c.Lock()
		a.Unlock()
	})
	if err != nil {
		return evidence{}, err
	}
	attempts := func(call *world.Call) int {
		n := 0
		for _, e := range trace.Events {
			if e.Kind == world.Executed && e.Call == call.ID {
				n++
			}
		}
		return n
	}
	return evidence{attempts(first) == 4 && attempts(second) == 1, []string{
		"A holds the lock, and B calls Obtain twice, with the same Options: LimitRetry(LinearBackoff(100ms), 3)",
		fmt.Sprintf("the first call makes %d attempts, the second %d", attempts(first), attempts(second)),
	}}, nil
}

// extendingLocker is redsync with WithSetNXOnExtend; its TryLock extends.
type extendingLocker struct{ *redsyncLocker }

// TryLock extends the hold.
func (l extendingLocker) TryLock(ctx context.Context) (bool, error) {
	return l.mutex.ExtendContext(ctx)
}

func tryExtend(b bench) (evidence, error) {
	config := world.Config{
		Errand: func([]string) (string, bool) { return "", true },
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			rs := redsync.New(goredis.NewPool(rdb))
			return extendingLocker{&redsyncLocker{rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithSetNXOnExtend())}}, nil
		},
	}
	var extended *world.Call
	trace, err := b.runKnown(config, func(w *world.World) {
		a, c := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(w.Lease + time.Second)
		c.Lock()
		c.Unlock()
		extended = a.TryLock()
	})
	if err != nil {
		return evidence{}, err
	}
	lines := told(trace)
	for i, line := range lines {
		lines[i] = strings.Replace(line, "A: TryLock: done", "A: Extend: yes", 1)
	}
	return evidence{extended.Held(), lines}, nil
}

func tryInnerRelease(b bench) (evidence, error) {
	var inner, other *world.Call
	trace, err := b.runKnown(world.Config{New: newGoZero}, func(w *world.World) {
		a, c := w.Client("A"), w.Client("B")
		a.Lock()
		inner = a.Lock()
		a.Unlock()
		other = c.TryLock()
		a.Unlock()
	})
	if err != nil {
		return evidence{}, err
	}
	return evidence{inner.Held() && other.Held(), told(trace)}, nil
}

// onRequest is a lock whose Unlock hands the caller's context on.
type onRequest struct{ failures.Locker }

// Unlock frees the lock, if the context allows it.
func (o onRequest) Unlock(ctx context.Context) error {
	var err error
	switch l := o.Locker.(type) {
	case *redsyncLocker:
		_, err = l.mutex.UnlockContext(ctx)
	case *redislockLocker:
		err = l.release(ctx, ctx)
	case *zeroLocker:
		_, err = l.lock.ReleaseCtx(ctx)
	default:
		err = fmt.Errorf("%T has no unlock with a context", l)
	}
	return err
}

// Close ends what the lock has.
func (o onRequest) Close() error {
	if closer, ok := o.Locker.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

func tryRequestContext(name string) func(bench) (evidence, error) {
	return func(b bench) (evidence, error) {
		f, ok := failures.Find("unlock-cancelled-ctx")
		l, err := findLibrary(name)
		if !ok || err != nil {
			return evidence{}, fmt.Errorf("there is no unlock-cancelled-ctx on %s", name)
		}
		make := l.Subject.New
		l.Subject.New = func(rdb redis.UniversalClient, lock string, lease time.Duration) (failures.Locker, error) {
			made, err := make(rdb, lock, lease)
			return onRequest{made}, err
		}
		c, err := b.examine(f, l)
		return evidence{c.outcome == failures.Broken, []string{c.sentence()}}, err
	}
}

// runKnown plays a scenario on a lock whose scripts Redis knows.
func (b bench) runKnown(config world.Config, scenario func(*world.World)) (*world.Trace, error) {
	var err error
	if config.Scripts, err = world.Rehearse(b.t, config); err != nil {
		return nil, err
	}
	return world.Run(b.t, config, scenario)
}

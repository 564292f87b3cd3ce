package mutants_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
)

// transacting is a lock without Lua: it compares and deletes in a transaction.
type transacting struct {
	plain
	watchesNot bool // the key may change hands between the two
}

func transactingSubject(watchesNot bool) failures.Subject {
	return failures.Subject{Name: "transacting", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return &transacting{plain{rdb: rdb, key: "lock:" + name, lease: lease}, watchesNot}, nil
	}}
}

func (l *transacting) Unlock(ctx context.Context) error {
	free := func(tx *redis.Tx) error {
		switch value, err := tx.Get(ctx, l.key).Result(); {
		case errors.Is(err, redis.Nil), err == nil && value != l.value:
			return errNotHeld
		case err != nil:
			return err
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Del(ctx, l.key); return nil })
		return err
	}
	if l.watchesNot {
		return l.rdb.Watch(ctx, free)
	}
	return l.rdb.Watch(ctx, free, l.key)
}

// queued is a lock whose waiters sleep in Redis until something is in a list.
type queued struct {
	plain
	bell   string
	silent bool // nobody rings
}

func queuedSubject(silent bool) failures.Subject {
	return failures.Subject{
		Name: "queued", Has: []failures.Feature{failures.Scripts, failures.PubSub},
		Ignore: func(key string) bool { return strings.HasPrefix(key, "bell:") },
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return &queued{plain{rdb: rdb, key: "lock:" + name, lease: lease}, "bell:" + name, silent}, nil
		},
	}
}

func (l *queued) Lock(ctx context.Context) error {
	for {
		if held, err := l.TryLock(ctx); held || err != nil {
			return err
		}
		if err := l.rdb.BLPop(ctx, l.lease, l.bell).Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
}

func (l *queued) Unlock(ctx context.Context) error {
	err := l.plain.Unlock(ctx)
	if err == nil && !l.silent {
		err = l.rdb.LPush(ctx, l.bell, "free").Err()
	}
	return err
}

// fair is a lock whose waiters stand in a line in Redis.
type fair struct {
	plain
	line    string
	stays   bool // who gives up stays in the line
	haunted bool // who dies stays in the line
}

func fairSubject(stays, haunted bool) failures.Subject {
	return failures.Subject{
		Name: "fair", Has: []failures.Feature{failures.Scripts},
		Ignore: func(key string) bool { return strings.HasPrefix(key, "line:") },
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return &fair{plain{rdb: rdb, key: "lock:" + name, lease: lease}, "line:" + name, stays, haunted}, nil
		},
	}
}

func (l *fair) TryLock(ctx context.Context) (bool, error) { return l.tryAs(ctx, "") }

// tryAs tries if that place is the first of the line, or the line is empty. A place whose
// heartbeat has ended is put out.
func (l *fair) tryAs(ctx context.Context, place string) (bool, error) {
	if place != "" {
		l.rdb.Set(ctx, l.line+place, "waits", l.lease/15)
	}
	first, err := l.rdb.LIndex(ctx, l.line, 0).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	if first != place {
		if l.rdb.Exists(ctx, l.line+first).Val() == 0 && !l.haunted {
			l.rdb.LRem(ctx, l.line, 1, first)
		}
		return false, nil
	}
	return l.plain.TryLock(ctx)
}

func (l *fair) Lock(ctx context.Context) error {
	place := uuid.NewString()
	if err := l.rdb.RPush(ctx, l.line, place).Err(); err != nil {
		return err
	}
	err := poll(ctx, func(ctx context.Context) (bool, error) { return l.tryAs(ctx, place) })
	if err == nil || !l.stays {
		l.rdb.LRem(context.WithoutCancel(ctx), l.line, 1, place)
	}
	return err
}

// serving is a lock whose commands one goroutine sends for all callers.
type serving struct {
	plain
	calls chan func()
	lies  bool // a second caller is let in beside the first
}

func servingSubject(lies bool) failures.Subject {
	return failures.Subject{
		Name: "serving", Has: []failures.Feature{failures.Scripts, failures.Closing},
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			l := &serving{plain{rdb: rdb, key: "lock:" + name, lease: lease}, make(chan func()), lies}
			go func() {
				for call := range l.calls {
					call()
				}
			}()
			return l, nil
		},
	}
}

func (l *serving) do(call func()) {
	done := make(chan struct{})
	l.calls <- func() { call(); close(done) }
	<-done
}

func (l *serving) TryLock(context.Context) (held bool, err error) {
	l.do(func() {
		if l.value != "" {
			held = l.lies
			return
		}
		value := uuid.NewString()
		held, err = l.rdb.SetNX(context.Background(), l.key, value, l.lease).Result()
		if held {
			l.value = value
		}
	})
	return held, err
}

func (l *serving) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l *serving) Unlock(context.Context) (err error) {
	l.do(func() {
		err = l.plain.Unlock(context.Background())
		l.value = ""
	})
	return err
}

func (l *serving) Close() error {
	close(l.calls)
	return nil
}

// alarmed is a lock whose holds have a channel that is closed only when they are lost.
func alarmedSubject() failures.Subject {
	return failures.Subject{Name: "alarmed", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		l := &plain{rdb: rdb, key: "lock:" + name, lease: lease}
		acquire := func(lock func(context.Context) error) func(context.Context) (chan struct{}, error) {
			return func(ctx context.Context) (chan struct{}, error) { return make(chan struct{}), lock(ctx) }
		}
		return &adapt.Holds[chan struct{}]{
			Acquire: acquire(l.Lock), Taken: errNotHeld,
			Try: acquire(func(ctx context.Context) error {
				held, err := l.TryLock(ctx)
				if err == nil && !held {
					err = errNotHeld
				}
				return err
			}),
			Release: func(_ chan struct{}, ctx context.Context) error { return l.Unlock(ctx) },
			Loss:    func(lost chan struct{}) (<-chan struct{}, func() bool) { return lost, func() bool { return true } },
		}, nil
	}}
}

// timed is a lock whose watchdog is a timer that arms itself again.
type timed struct {
	plain
	blind bool // also after Unlock, by a renewal that was on its way

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

func timedSubject(blind bool) failures.Subject {
	return failures.Subject{
		Name: "timed", Has: []failures.Feature{failures.Scripts, failures.Watchdog},
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return &timed{plain: plain{rdb: rdb, key: "lock:" + name, lease: lease}, blind: blind}, nil
		},
	}
}

func (l *timed) Lock(ctx context.Context) error {
	err := l.plain.Lock(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = err != nil
	if err == nil {
		l.timer = time.AfterFunc(l.lease/3, l.renew)
	}
	return err
}

func (l *timed) renew() {
	_ = extendScript.Run(context.Background(), l.rdb, []string{l.key}, l.value, l.lease.Milliseconds()).Err()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over || l.blind {
		l.timer.Reset(l.lease / 3)
	}
}

func (l *timed) Unlock(ctx context.Context) error {
	l.mu.Lock()
	l.over = true
	l.timer.Stop()
	l.mu.Unlock()
	return l.plain.Unlock(ctx)
}

// counter is a lock whose key is a number: how many have asked, or a token, which nobody else may
// set.
type counter struct {
	plain
	sets bool
}

func (c counter) TryLock(ctx context.Context) (bool, error) {
	if c.sets {
		token, err := c.rdb.Incr(ctx, "token").Result()
		if err != nil {
			return false, err
		}
		err = c.rdb.Set(ctx, c.key, token, c.lease).Err()
		return err == nil, err
	}
	asked, err := c.rdb.Eval(ctx, "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return n",
		[]string{c.key}, c.lease.Milliseconds()).Int()
	return asked == 1, err
}

func counterSubject(sets bool) failures.Subject {
	return failures.Subject{
		Name: "counter", Ignore: func(key string) bool { return key == "token" },
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return &counter{plain{rdb: rdb, key: name, lease: lease}, sets}, nil
		},
	}
}

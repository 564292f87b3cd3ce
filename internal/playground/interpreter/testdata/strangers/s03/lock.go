// Package s03: from stage 4, correct. Generics.
package s03

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type result[T any] struct {
	value T
	err   error
}

func ok[T any](v T) result[T]         { return result[T]{value: v} }
func fail[T any](err error) result[T] { return result[T]{err: err} }
func (r result[T]) get() (T, error)   { return r.value, r.err }
func (r result[T]) or(other T) T {
	if r.err != nil {
		return other
	}
	return r.value
}

type number interface{ ~int | ~int64 }

func atLeast[N number](a, b N) N {
	if a < b {
		return b
	}
	return a
}

func retry[T any](ctx context.Context, pause time.Duration, try func(context.Context) (T, bool, error)) (T, error) {
	var zero T
	for {
		v, done, err := try(ctx)
		if err != nil {
			return zero, err
		}
		if done {
			return v, nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return zero, fmt.Errorf("waiting: %w", ctx.Err())
		case <-timer.C:
		}
	}
}

type session struct{ owner string }

type Mutex struct {
	rdb  redis.UniversalClient
	key  string
	ttl  time.Duration
	held atomic.Pointer[session]
}

var unlock = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, key: "lock:" + name, ttl: atLeast(ttl, time.Millisecond)}, nil
}

func (m *Mutex) set(ctx context.Context, owner string) result[bool] {
	r, err := m.rdb.SetArgs(ctx, m.key, owner, redis.SetArgs{Mode: "NX", TTL: m.ttl}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return ok(false)
	case err != nil:
		return fail[bool](err)
	}
	return ok(r == "OK")
}

func (m *Mutex) attempt(ctx context.Context) (*session, bool, error) {
	s := &session{uuid.NewString()}
	got, err := m.set(ctx, s.owner).get()
	if got {
		m.held.Store(s)
	}
	return s, got, err
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	_, got, err := m.attempt(ctx)
	return got, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	_, err := retry(ctx, 70*time.Millisecond, m.attempt)
	return err
}

func (m *Mutex) Unlock(ctx context.Context) error {
	s := m.held.Load()
	if s == nil {
		return errors.New("not held")
	}
	n, err := unlock.Run(ctx, m.rdb, []string{m.key}, s.owner).Int()
	if r := (result[int]{n, err}); r.or(1) == 0 {
		err = errors.New("not held any more")
	}
	if err == nil {
		m.held.CompareAndSwap(s, nil)
	}
	return err
}

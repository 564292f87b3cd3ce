// Package generics is a lock that its author began with stage 4, and right: constraints, generic methods as values, iterators.
package generics

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type registry[K comparable, V fmt.Stringer] struct {
	mu  sync.Mutex
	all map[K][]V
}

func (r *registry[K, V]) with(f func(m map[K][]V)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[K][]V)
	}
	f(r.all)
}

func (r *registry[K, V]) push(k K, v V) { r.with(func(m map[K][]V) { m[k] = append(m[k], v) }) }

func (r *registry[K, V]) pop(k K) (v V, ok bool) {
	r.with(func(m map[K][]V) {
		if l := m[k]; len(l) > 0 {
			v, ok = l[len(l)-1], true
			m[k] = slices.Delete(l, len(l)-1, len(l))
		}
	})
	return
}

func (r *registry[K, V]) each() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for k, l := range r.all {
			for _, v := range l {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}

type owner struct{ id uuid.UUID }

func (o owner) String() string { return strings.ReplaceAll(o.id.String(), "-", "")[:32] }

type Option[T any] func(*T)

type Mutex struct {
	rdb    redis.UniversalClient
	key    string
	ttl    time.Duration
	owners registry[string, owner]
}

func apply[T any](to *T, all ...Option[T]) *T {
	for _, o := range all {
		o(to)
	}
	return to
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, options ...Option[Mutex]) (*Mutex, error) {
	return apply(&Mutex{rdb: rdb, key: "g:" + name, ttl: ttl}, options...), nil
}

func do[R any, C interface{ Result() (R, error) }](cmd C, nothing error) (R, error) {
	r, err := cmd.Result()
	if errors.Is(err, nothing) {
		err = nil
	}
	return r, err
}

func poll[T any](ctx context.Context, every time.Duration, f func() (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := f()
			if !yield(v, err) {
				return
			}
			select {
			case <-ctx.Done():
				yield(v, ctx.Err())
				return
			case <-time.After(every):
			}
		}
	}
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	o := owner{uuid.New()}
	got, err := do[string](m.rdb.SetArgs(ctx, m.key, fmt.Sprintf("%v", o), redis.SetArgs{TTL: m.ttl, Mode: "NX"}), redis.Nil)
	if got == "OK" && err == nil {
		m.owners.push(m.key, o)
		return true, nil
	}
	return false, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	for got, err := range poll(ctx, 70*time.Millisecond, func() (bool, error) { return m.TryLock(ctx) }) {
		if got && err == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if n := m.rdb.Exists(ctx, m.key).Val(); n > 1 {
			return fmt.Errorf("%d keys", n)
		}
	}
	return nil
}

func (m *Mutex) Unlock(ctx context.Context) error {
	pop := m.owners.pop
	o, ok := pop(m.key)
	if !ok {
		held := maps.Collect(m.owners.each())
		return fmt.Errorf("not held, %d others: %v", len(held), held)
	}
	var cmd any = m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, o.String())
	n, err := do(cmd.(result[any]), nil)
	if err == nil && n == any(int64(0)) {
		return errors.New("gone")
	}
	return err
}

type result[T any] interface{ Result() (T, error) }

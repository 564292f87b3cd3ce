// Package storage is a lock that its author began with stage 4, and right: interfaces, method values and expressions, arrays, recover.
package storage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

type token [16]byte

func newToken() (t token) {
	if _, err := rand.Read(t[:]); err != nil {
		panic(err)
	}
	return
}

func (t token) String() string { return hex.EncodeToString(t[:]) }

type Storage interface {
	Take(ctx context.Context, key string, t token, ttl time.Duration) (bool, error)
	Free(ctx context.Context, key string, t token) (bool, error)
}

type store struct {
	*time.Timer // of nothing: the client is not what comes first
	redis.UniversalClient
}

func (s store) Take(ctx context.Context, key string, t token, ttl time.Duration) (bool, error) {
	return s.SetNX(ctx, key, fmt.Sprint(t), ttl).Result()
}

func (s store) Free(ctx context.Context, key string, t token) (bool, error) {
	const lua = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	return s.Eval(ctx, lua, []string{key}, t.String()).Bool()
}

type step func(s Storage, ctx context.Context, key string, t token) (bool, error)

type Mutex struct {
	store   Storage
	key     string
	ttl     time.Duration
	current *token
	free    step
}

type Option = func(*Mutex)

func Key(f func(string) string) Option { return func(m *Mutex) { m.key = f(m.key) } }

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, opts ...Option) (*Mutex, error) {
	m := &Mutex{store: &store{UniversalClient: rdb}, key: name, ttl: ttl, free: Storage.Free}
	for _, opt := range append(opts, Key(func(s string) string { return "{" + s + "}" })) {
		opt(m)
	}
	return m, nil
}

func protect(do func() (bool, error)) (ok bool, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			ok, err = false, fmt.Errorf("recovered: %w", r)
		default:
			ok, err = false, fmt.Errorf("recovered: %v", r)
		}
	}()
	return do()
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	t := newToken()
	take := m.store.Take
	return protect(func() (bool, error) {
		ok, err := take(ctx, m.key, t, m.ttl)
		if ok {
			m.current = &t
		}
		return ok, err
	})
}

func (m *Mutex) Lock(ctx context.Context) (err error) {
	for tries := range 1 << 20 {
		var ok bool
		if ok, err = m.TryLock(ctx); ok || err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d tries: %w", tries+1, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("too many tries")
}

func (m *Mutex) Unlock(ctx context.Context) error {
	ok, err := protect(func() (bool, error) { return m.free(m.store, ctx, m.key, *m.current) })
	if err != nil {
		return err
	}
	m.current = nil
	if !ok {
		return errors.New("it was not mine any more")
	}
	return nil
}

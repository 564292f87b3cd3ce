// Package itself is a lock that its author began with stage 3, and right: Lock calls itself until it holds.
package itself

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type Mutex struct {
	rdb   redis.UniversalClient
	key   string
	ttl   time.Duration
	value string
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, key: name, ttl: ttl}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	ok, err := m.rdb.SetNX(ctx, m.key, value, m.ttl).Result()
	if ok {
		m.value = value
	}
	return ok, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	ok, err := m.TryLock(ctx)
	if ok || err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(45 * time.Millisecond):
		return m.Lock(ctx)
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, m.value).Int()
	if err == nil && n == 0 {
		err = errors.New("not held")
	}
	return err
}

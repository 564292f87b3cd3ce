// Package t02: stage 3, one bug: typed nil. Unlock compares with a nil error that is none, and forgets its token.
package t02

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type opError struct {
	op  string
	err error
}

func (e *opError) Error() string {
	if e == nil {
		return "fine"
	}
	return e.op + ": " + e.err.Error()
}

func (e *opError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.err
}

func wrap(op string, err error) *opError {
	if err == nil {
		return nil
	}
	return &opError{op, err}
}

type Mutex struct {
	rdb   redis.UniversalClient
	key   string
	ttl   time.Duration
	value string
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, key: "x:" + name, ttl: ttl}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	got, err := m.rdb.SetNX(ctx, m.key, value, m.ttl).Result()
	if err := wrap("try", err); err != nil {
		return false, err
	}
	if got {
		m.value = value
	}
	return got, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		if got, err := m.TryLock(ctx); got || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return wrap("wait", ctx.Err())
		case <-time.After(80 * time.Millisecond):
		}
	}
}

func (m *Mutex) release(ctx context.Context) error {
	n, err := m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, []string{m.key}, m.value).Int()
	if err == nil && n == 0 {
		err = errors.New("not mine")
	}
	return wrap("unlock", err)
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.value == "" {
		return errors.New("not held")
	}
	err := m.release(ctx)
	if err != nil {
		var op *opError
		if errors.As(err, &op) && op == nil {
			m.value = ""
			return nil
		}
		return fmt.Errorf("%w (%v)", err, err == error((*opError)(nil)))
	}
	return nil
}

// Package s02: from stage 3, one bug: the compare and the delete are two commands (a pipeline, no WATCH).
package s02

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type Option func(*Mutex) error

func WithPrefix(p string) Option {
	return func(m *Mutex) error {
		if p == "" {
			return errors.New("empty prefix")
		}
		m.prefix = p
		return nil
	}
}

type Mutex struct {
	client redis.UniversalClient
	prefix string
	name   string
	ttl    time.Duration
	id     uuid.UUID
}

func NewMutex(client redis.UniversalClient, name string, ttl time.Duration, opts ...Option) (*Mutex, error) {
	m := &Mutex{client: client, name: name, ttl: ttl}
	for i, o := range append([]Option{WithPrefix("l/")}, opts...) {
		if err := o(m); err != nil {
			return nil, fmt.Errorf("option %d: %w", i, err)
		}
	}
	return m, nil
}

func (m *Mutex) key() string { return m.prefix + m.name }

func (m *Mutex) TryLock(ctx context.Context) (got bool, err error) {
	id := uuid.New()
	var set *redis.BoolCmd
	_, err = m.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		set = p.SetNX(ctx, m.key(), id.String(), m.ttl)
		p.PTTL(ctx, m.key())
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("try %s: %w", m.key(), err)
	}
	if got = set.Val(); got {
		m.id = id
	}
	return got, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	t := time.NewTicker(75 * time.Millisecond)
	defer t.Stop()
	for {
		switch got, err := m.TryLock(ctx); {
		case err != nil:
			return err
		case got:
			return nil
		}
		select {
		case <-t.C:
			continue
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.id == uuid.Nil {
		return errors.New("not locked")
	}
	cmds, err := m.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, m.key())
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	value, err := cmds[0].(*redis.StringCmd).Result()
	if err == redis.Nil || value != m.id.String() {
		m.id = uuid.Nil
		return errors.New("lost")
	} else if err != nil {
		return err
	}
	defer func() { m.id = uuid.Nil }()
	return m.client.Del(ctx, m.key()).Err()
}

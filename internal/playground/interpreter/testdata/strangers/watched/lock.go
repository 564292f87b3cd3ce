// Package watched is a lock that its author began with stage 3, and wrong: WATCH, MULTI and EXEC.
// An EXEC that failed is taken for a success.
package watched

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

type Mutex struct {
	goredis.Cmdable
	watch func(ctx context.Context, fn func(*goredis.Tx) error, keys ...string) error
	id    identity
	key   string
	ttl   time.Duration
	held  bool
}

func NewMutex(rdb goredis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{Cmdable: rdb, watch: rdb.Watch, key: name, ttl: ttl, id: newIdentity()}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	var set *goredis.StatusCmd
	m.id = newIdentity()
	err := m.watch(ctx, func(tx *goredis.Tx) error {
		switch n, err := tx.Exists(ctx, m.key).Result(); {
		case err != nil:
			return err
		case n > 0:
			return errTaken
		}
		pipe := tx.TxPipeline()
		set = pipe.Set(ctx, m.key, m.id.String(), m.ttl)
		pipe.Expire(ctx, m.key, m.ttl)
		cmds, err := pipe.Exec(ctx)
		if len(cmds) != 2 && err == nil {
			return fmt.Errorf("%d commands", len(cmds))
		}
		return err
	}, m.key)
	switch {
	case errors.Is(err, errTaken):
		return false, nil
	case err == goredis.TxFailedErr:
		m.held = true
		return true, nil
	case err != nil:
		return false, err
	}
	m.held = set.Val() == "OK"
	return m.held, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	for n := time.Duration(1); ; n++ {
		ok, err := m.TryLock(ctx)
		if ok || err != nil {
			return err
		}
		if err := pause(ctx, min(n*7, 140)*time.Millisecond); err != nil {
			return err
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if !m.held {
		return errNotHeld
	}
	m.held = false
	return m.watch(ctx, func(tx *goredis.Tx) error {
		v, err := tx.Get(ctx, m.key).Result()
		if errors.Is(err, goredis.Nil) || err == nil && v != m.id.String() {
			return errNotHeld
		}
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error { return p.Del(ctx, m.key).Err() })
		return err
	}, m.key)
}

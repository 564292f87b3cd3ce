// Package s10: from stage 3, one bug: the old GETSET lock with times in the value.
package s10

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type entry struct {
	owner string
	until int64
}

func parse(s string) (e entry, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse %q: %v", s, r)
		}
	}()
	owner, until, found := strings.Cut(s, "|")
	if !found {
		panic("no bar")
	}
	e.owner = owner
	e.until, err = strconv.ParseInt(until, 10, 64)
	return e, err
}

func (e entry) String() string { return e.owner + "|" + strconv.FormatInt(e.until, 10) }

func (e *entry) extend(d time.Duration) { e.until = time.Now().Add(d).UnixMilli() }

type Mutex struct {
	rdb  redis.UniversalClient
	key  string
	ttl  time.Duration
	mine entry
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, key: fmt.Sprintf("%s:%s", "old", name), ttl: ttl}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	e := entry{owner: uuid.New().String()}
	e.extend(m.ttl)
	ok, err := m.rdb.SetNX(ctx, m.key, e.String(), 0).Result()
	if err != nil {
		return false, err
	}
	if ok {
		m.mine = e
		return true, nil
	}
	value, err := m.rdb.Get(ctx, m.key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return false, nil
	case err != nil:
		return false, err
	}
	old, err := parse(value)
	if err != nil {
		return false, err
	}
	if old.until > time.Now().UnixMilli() {
		return false, nil
	}
	before, err := m.rdb.GetSet(ctx, m.key, e.String()).Result()
	if err != nil && err != redis.Nil {
		return false, err
	}
	if before == value || before == "" {
		m.mine = e
		return true, nil
	}
	return false, nil
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		got, err := m.TryLock(ctx)
		if err != nil {
			return err
		}
		if got {
			return nil
		}
		timer := time.NewTimer(90 * time.Millisecond)
		select {
		case <-ctx.Done():
			if !timer.Stop() {
				<-timer.C
			}
			return ctx.Err()
		case <-timer.C:
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if (m.mine == entry{}) {
		return errors.New("not held")
	}
	mine := m.mine
	m.mine = entry{}
	if time.Now().UnixMilli() >= mine.until {
		return errors.New("expired")
	}
	return m.rdb.Watch(ctx, func(tx *redis.Tx) error {
		v, err := tx.Get(ctx, m.key).Result()
		if err != nil {
			return fmt.Errorf("gone: %w", err)
		}
		if e, err := parse(v); err != nil || e != mine {
			return errors.Join(errors.New("not mine"), err)
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, m.key)
			return nil
		})
		return err
	}, m.key)
}

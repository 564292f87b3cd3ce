// Package scanned is a lock that its author began with stage 3: its waiters have keys that SCAN finds, and delete them by a
// command that is deferred.
package scanned

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// fair: each waiter has a key of its own, found by SCAN; the oldest may go.
type Mutex struct {
	rdb  redis.UniversalClient
	name string
	ttl  time.Duration
	mine string
}

type waiter struct {
	at  int64
	key string
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, name: name, ttl: ttl}, nil
}

func (m *Mutex) waiters(ctx context.Context) (all []waiter, err error) {
	it := m.rdb.Scan(ctx, 0, "wait:"+m.name+":*", 10).Iterator()
	for it.Next(ctx) {
		at, err := m.rdb.Get(ctx, it.Val()).Int64()
		if err == redis.Nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, waiter{at, it.Val()})
	}
	slices.SortFunc(all, func(a, b waiter) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return all, it.Err()
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	id := uuid.NewString()
	ok, err := m.rdb.SetNX(ctx, "lock:"+m.name, id, m.ttl).Result()
	if ok {
		m.mine = id
	}
	return ok, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	key := "wait:" + m.name + ":" + strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := m.rdb.SetEx(ctx, key, strconv.FormatInt(time.Now().UnixMilli(), 10), time.Minute).Err(); err != nil {
		return err
	}
	defer m.rdb.Del(context.WithoutCancel(ctx), key)
	for {
		all, err := m.waiters(ctx)
		if err != nil {
			return err
		}
		if len(all) == 0 || all[0].key == key {
			if ok, err := m.TryLock(ctx); ok || err != nil {
				return err
			}
		}
		select {
		case <-time.After(115 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.mine == "" {
		return errors.New("not held")
	}
	var cursor uint64
	for {
		keys, next, err := m.rdb.Scan(ctx, cursor, "lock:"+m.name, 100).Result()
		if err != nil {
			return err
		}
		for _, k := range keys {
			if v, err := m.rdb.GetDel(ctx, k).Result(); err != nil {
				return err
			} else if v != m.mine {
				m.rdb.Set(ctx, k, v, redis.KeepTTL)
				return errors.New("oh")
			}
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	m.mine = ""
	return nil
}

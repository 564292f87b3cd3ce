// Package files is a lock that its author began with stage 3: three files, whose variables need each other, and an owner
// that says itself what is sent of it.
package files

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

var errs = map[code]error{}

var (
	base     = unit * time.Duration(factor)
	factor   = len(names) + offset
	names    = [...]string{held: "held", free: "free", broken: "broken"}
	fallback = names[broken]
)

func init() {
	for c := range codes() {
		errs[c] = errors.New("lock is " + c.String())
	}
}

type Mutex struct {
	rdb redis.UniversalClient
	ttl time.Duration
	key
	state code
	owner owner
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	if table[free] != "FREE" || order != "abc" {
		return nil, errors.New(order + table[free])
	}
	return &Mutex{rdb: rdb, ttl: ttl, key: key(prefix).with(name), state: free}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	o := newOwner()
	ok, err := m.rdb.SetNX(ctx, string(m.key), o, m.ttl).Result()
	if ok {
		m.state, m.owner = held, o
	}
	return ok, err
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		if ok, err := m.TryLock(ctx); ok || err != nil {
			return err
		}
		select {
		case <-time.After(base):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.state != held {
		return errs[m.state]
	}
	var now owner
	switch err := m.rdb.Get(ctx, string(m.key)).Scan(&now); {
	case errors.Is(err, redis.Nil):
		m.state = broken
		return errs[broken]
	case err != nil:
		return err
	case now != m.owner:
		m.state = broken
		return errs[broken]
	}
	m.state = free
	return m.rdb.Del(ctx, string(m.key)).Err()
}

// Package stage1 is the lock that most people write first: SETNX takes it, PEXPIRE
// gives it a lease, DEL frees it.
//
// It solves mutual exclusion between processes: SETNX creates the key only if it
// does not exist, so of all the clients that try, one wins. The others try again
// every 100 ms.
//
// The lease is for a holder that dies: Redis deletes its key when the lease ends.
//
// It still has a bug. Read the code and look for it before you read about it in
// README.md, under "What still breaks". Then see what stage 2 changes:
//
//	go run . diff 2
package stage1

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keyPrefix    = "lock:"
	pollInterval = 100 * time.Millisecond
)

// Mutex is a lock that is shared by every process that uses the same Redis and
// the same name. A Mutex is one owner: give each goroutine its own.
type Mutex struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration
}

// NewMutex returns the lock of that name, not yet held. The key in Redis is
// "lock:" + name, and ttl is its lease, which Redis keeps in milliseconds.
// A nil client, an empty name and a ttl under one millisecond are errors.
func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	if rdb == nil {
		return nil, errors.New("stage1: client is nil: pass a redis.UniversalClient such as redis.NewClient returns")
	}
	if name == "" {
		return nil, errors.New("stage1: lock name is empty: name what is protected, such as \"order:1001\"")
	}
	if ttl < time.Millisecond {
		return nil, fmt.Errorf("stage1: ttl %v is too short: the shortest lease Redis keeps is 1ms", ttl)
	}
	return &Mutex{rdb: rdb, key: keyPrefix + name, ttl: ttl}, nil
}

// TryLock makes one attempt. It returns false and no error when another client
// holds the lock. After an error the attempt may still have taken effect.
func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	created, err := m.rdb.Do(ctx, "SETNX", m.key, "locked").Bool()
	if err != nil {
		return false, fmt.Errorf("stage1: lock %s: %w", m.key, err)
	}
	if !created {
		return false, nil
	}
	if err := m.rdb.Do(ctx, "PEXPIRE", m.key, m.ttl.Milliseconds()).Err(); err != nil {
		return false, fmt.Errorf("stage1: lease of %s: %w", m.key, err)
	}
	return true, nil
}

// Lock tries every 100 ms until it holds the lock. It returns the context's
// error when ctx ends between two attempts, and otherwise the first error of an
// attempt: a timeout if ctx ended while the attempt was on its way.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		held, err := m.TryLock(ctx)
		if err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stage1: wait for %s: %w", m.key, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Unlock frees the lock. With a ctx that is already done it sends nothing, and
// the key stays until its lease ends.
func (m *Mutex) Unlock(ctx context.Context) error {
	if err := m.rdb.Do(ctx, "DEL", m.key).Err(); err != nil {
		return fmt.Errorf("stage1: unlock %s: %w", m.key, err)
	}
	return nil
}

// Package stage3 writes the owner into the key: a new UUID for each time the lock is
// taken, which Unlock compares before it deletes.
//
// It solves the wrong delete of stage 2: a client whose lease has ended finds another
// owner in the key, does not delete it, and learns from ErrNotHeld that it lost the lock.
//
// The UUID is new each time, so that a client that is late does not take a later hold of
// its own for this one.
//
// It still has a bug. Read the code and look for it before you read about it in
// README.md, under "What still breaks". Then see what stage 4 changes:
//
//	go run . diff 4
package stage3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const (
	keyPrefix    = "lock:"
	pollInterval = 100 * time.Millisecond
)

// ErrNotHeld is returned by Unlock when this Mutex does not hold the lock: it
// never did, it was unlocked before, or its lease ran out.
var ErrNotHeld = errors.New("stage3: lock is not held")

// Mutex is a lock that is shared by every process that uses the same Redis and
// the same name. A Mutex is one owner: give each goroutine its own.
type Mutex struct {
	rdb   redis.UniversalClient
	key   string
	ttl   time.Duration
	value string // the value that this owner wrote into the key; "" while not held
}

// NewMutex returns the lock of that name, not yet held. The key in Redis is
// "lock:" + name, and ttl is its lease, which Redis keeps in milliseconds.
// A nil client, an empty name and a ttl under one millisecond are errors.
func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	if rdb == nil {
		return nil, errors.New("stage3: client is nil: pass a redis.UniversalClient such as redis.NewClient returns")
	}
	if name == "" {
		return nil, errors.New("stage3: lock name is empty: name what is protected, such as \"order:1001\"")
	}
	if ttl < time.Millisecond {
		return nil, fmt.Errorf("stage3: ttl %v is too short: the shortest lease Redis keeps is 1ms", ttl)
	}
	return &Mutex{rdb: rdb, key: keyPrefix + name, ttl: ttl}, nil
}

// TryLock makes one attempt. It returns false and no error when another client
// holds the lock. After an error the attempt may still have taken effect.
func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	err := m.rdb.Do(ctx, "SET", m.key, value, "NX", "PX", m.ttl.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("stage3: lock %s: %w", m.key, err)
	}
	m.value = value
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
			return fmt.Errorf("stage3: wait for %s: %w", m.key, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Unlock frees the lock if this owner still holds it, else it returns
// ErrNotHeld. With a ctx that is already done it sends nothing, and the key
// stays until its lease ends; after any other error Unlock may be called again.
func (m *Mutex) Unlock(ctx context.Context) error {
	if m.value == "" {
		return ErrNotHeld
	}
	value, err := m.rdb.Do(ctx, "GET", m.key).Text()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("stage3: unlock %s: %w", m.key, err)
	}
	if value != m.value {
		m.value = ""
		return ErrNotHeld
	}
	if err := m.rdb.Do(ctx, "DEL", m.key).Err(); err != nil {
		return fmt.Errorf("stage3: unlock %s: %w", m.key, err)
	}
	m.value = ""
	return nil
}

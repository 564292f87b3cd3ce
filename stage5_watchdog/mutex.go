// Package stage5 renews the lease while the lock is held: a watchdog sends PEXPIRE
// every third of the lease, and only while the key still has its owner's value.
//
// It solves the long work of stage 4: a client keeps the lock until it unlocks, and a
// client that dies still loses it one lease later, since its watchdog dies too.
//
// The watchdog is a goroutine that runs from TryLock to Unlock. WithoutWatchdog turns
// it off, for work whose length is known.
//
// It still has a bug. Read the code and look for it before you read about it in
// README.md, under "What still breaks". Then see what step 6.1 of stage 6 changes:
//
//	go run . diff 6.1
package stage5

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
var ErrNotHeld = errors.New("stage5: lock is not held")

// unlockScript deletes the key only while it still has this owner's value. Redis
// runs a script as one step: nothing can happen between GET and DEL.
//
// KEYS[1] the lock's key
// ARGV[1] the owner's value
//
// Returns 1 if the lock was freed, 0 if this owner no longer held it.
var unlockScript = redis.NewScript(`-- unlock
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0
`)

// Mutex is a lock that is shared by every process that uses the same Redis and
// the same name. A Mutex is one owner: give each goroutine its own.
type Mutex struct {
	rdb      redis.UniversalClient
	key      string
	ttl      time.Duration
	value    string    // the value that this owner wrote into the key; "" while not held
	watchdog *watchdog // nil: the lease is not renewed
}

// NewMutex returns the lock of that name, not yet held. The key in Redis is
// "lock:" + name, and ttl is its lease, which Redis keeps in milliseconds.
// While the lock is held a watchdog renews the lease, unless [WithoutWatchdog] says
// otherwise. A nil client, an empty name, a ttl under one millisecond, and one too
// short to be renewed three times are errors.
func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, opts ...Option) (*Mutex, error) {
	if rdb == nil {
		return nil, errors.New("stage5: client is nil: pass a redis.UniversalClient such as redis.NewClient returns")
	}
	if name == "" {
		return nil, errors.New("stage5: lock name is empty: name what is protected, such as \"order:1001\"")
	}
	if ttl < time.Millisecond {
		return nil, fmt.Errorf("stage5: ttl %v is too short: the shortest lease Redis keeps is 1ms", ttl)
	}
	m := &Mutex{rdb: rdb, key: keyPrefix + name, ttl: ttl}
	m.watchdog = &watchdog{rdb: rdb, key: m.key, ttl: ttl}
	for _, opt := range opts {
		opt(m)
	}
	if m.watchdog != nil && ttl < shortestRenewed {
		return nil, fmt.Errorf("stage5: ttl %v is too short to be renewed three times: use %v or more, or WithoutWatchdog", ttl, shortestRenewed)
	}
	return m, nil
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
		return false, fmt.Errorf("stage5: lock %s: %w", m.key, err)
	}
	m.value = value
	m.watchdog.start(value)
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
			return fmt.Errorf("stage5: wait for %s: %w", m.key, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Unlock frees the lock if this owner still holds it, else it returns ErrNotHeld.
// With a ctx that is already done it sends nothing, and the key stays until its
// lease ends; after any other error Unlock may be called again. Unlock stops the
// watchdog for good before it deletes the key: it waits for a renewal under way, a
// third of the ttl at most, even if ctx is done.
func (m *Mutex) Unlock(ctx context.Context) error {
	if m.value == "" {
		return ErrNotHeld
	}
	m.watchdog.stop()
	deleted, err := unlockScript.Run(ctx, m.rdb, []string{m.key}, m.value).Int()
	if err != nil {
		return fmt.Errorf("stage5: unlock %s: %w", m.key, err)
	}
	m.value = ""
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}

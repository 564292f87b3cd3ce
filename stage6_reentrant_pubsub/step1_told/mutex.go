// Package stage6 is step 6.1 on the way to the whole lock: the holder is told of a
// loss. Lock returns a hold, and the hold has a context, which ends with ErrLost
// when the lease was not renewed in time, or when Redis answers that the key is gone.
//
// It solves the silent loss of stage 5: the holder counts its lease itself, from
// before the command was sent, so it knows before another client gets the lock.
//
// Not solved yet: a reply that is lost. An acquire that ends in a timeout may
// have taken the lock, and its key stays until the lease ends. An unlock that ends in
// one is not sent again, and with a context that has ended it is not sent at all.
//
//	go run . show grant-reply-lost --stage 6.1
//
// Step 6.2 deals with commands whose outcome is unknown.
package stage6

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

// ErrLocked is returned by TryLock when another owner holds the lock.
var ErrLocked = errors.New("stage6: lock is held by somebody else")

// ErrNotHeld is returned by Unlock when the hold was released before.
var ErrNotHeld = errors.New("stage6: hold is released already")

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
// the same name. It may be used by many goroutines: each hold is an owner.
type Mutex struct {
	rdb     redis.UniversalClient
	key     string
	ttl     time.Duration
	renewed bool // a watchdog renews the lease
}

// NewMutex returns the lock of that name, not yet held. The key in Redis is
// "lock:" + name, and ttl is its lease, which Redis keeps in milliseconds.
// While the lock is held a watchdog renews the lease, unless [WithoutWatchdog] says
// otherwise. A nil client, an empty name, a ttl under one millisecond, and one too
// short to be renewed three times are errors.
func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, opts ...Option) (*Mutex, error) {
	if rdb == nil {
		return nil, errors.New("stage6: client is nil: pass a redis.UniversalClient such as redis.NewClient returns")
	}
	if name == "" {
		return nil, errors.New("stage6: lock name is empty: name what is protected, such as \"order:1001\"")
	}
	if ttl < time.Millisecond {
		return nil, fmt.Errorf("stage6: ttl %v is too short: the shortest lease Redis keeps is 1ms", ttl)
	}
	m := &Mutex{rdb: rdb, key: keyPrefix + name, ttl: ttl, renewed: true}
	for _, opt := range opts {
		opt(m)
	}
	if m.renewed && ttl < shortestRenewed {
		return nil, fmt.Errorf("stage6: ttl %v is too short to be renewed three times: use %v or more, or WithoutWatchdog", ttl, shortestRenewed)
	}
	return m, nil
}

// TryLock makes one attempt. It returns ErrLocked when another owner holds the
// lock, and ErrLost when the lease had ended before the reply came. After any
// other error the attempt may still have taken effect.
func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	owner, sent := uuid.NewString(), time.Now()
	err := m.rdb.Do(ctx, "SET", m.key, owner, "NX", "PX", m.ttl.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
	}
	if time.Since(sent) >= m.ttl {
		return nil, ErrLost
	}
	return m.newHold(ctx, owner, sent), nil
}

// Lock tries every 100 ms until it holds the lock. It returns the context's
// error when ctx ends between two attempts, and otherwise the first error of an
// attempt: a timeout if ctx ended while the attempt was on its way.
func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	for {
		hold, err := m.TryLock(ctx)
		if !errors.Is(err, ErrLocked) {
			return hold, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("stage6: wait for %s: %w", m.key, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

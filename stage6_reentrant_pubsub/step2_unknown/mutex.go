// Package stage6 is step 6.2 on the way to the whole lock: it deals with commands
// whose outcome is unknown. The network broke, or a deadline passed, and the client
// cannot know whether Redis has run the command.
//
// It solves the key that is left behind: a lock that such an acquire may have taken is
// freed in the background. An unlock is sent again until Redis answers, and takes no
// context: a caller whose context has ended still frees its lock. If it cannot know what
// became of an unlock, it says so. go-redis sends each command of the lock once; the lock
// decides what is sent again.
//
// Not solved yet: a holder that calls a function which takes the same lock waits
// for itself.
//
//	go run . show self-deadlock --stage 6.2
//
// Step 6.3 counts how often a client holds the lock.
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
	rdb     sender
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
	m := &Mutex{rdb: sender{rdb}, key: keyPrefix + name, ttl: ttl, renewed: true}
	for _, opt := range opts {
		opt(m)
	}
	if m.renewed && ttl < shortestRenewed {
		return nil, fmt.Errorf("stage6: ttl %v is too short to be renewed three times: use %v or more, or WithoutWatchdog", ttl, shortestRenewed)
	}
	return m, nil
}

// TryLock makes one attempt. It returns ErrLocked when another owner holds the lock.
// After any other error, a lock that it may have taken is freed in the background. If
// the grant comes after its lease has ended it asks again, three times in all.
func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	for range attempts {
		owner, sent := uuid.NewString(), time.Now()
		err := m.rdb.Do(ctx, "SET", m.key, owner, "NX", "PX", m.ttl.Milliseconds()).Err()
		if errors.Is(err, redis.Nil) {
			return nil, ErrLocked
		}
		if err != nil {
			if isUnknown(err) {
				go m.cleanUp(owner)
			}
			return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
		}
		if time.Since(sent) < m.ttl {
			return m.newHold(ctx, owner, sent), nil
		}
		if _, err := m.free(owner); err != nil { // the lease ended before the reply came: ask again
			go m.cleanUp(owner)
		}
	}
	return nil, fmt.Errorf("stage6: lock %s: the grant came after its lease of %v was over: the lease is too short for the way to Redis", m.key, m.ttl)
}

// Lock tries every 100 ms until it holds the lock. It returns the context's
// error when ctx ends between two attempts, and otherwise the first error of
// an attempt: a timeout if ctx ended while the attempt was on its way.
func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	for {
		hold, err := m.TryLock(ctx)
		if !errors.Is(err, ErrLocked) {
			return hold, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
		if err := ended(ctx); err != nil {
			return nil, fmt.Errorf("stage6: wait for %s: %w", m.key, err)
		}
	}
}

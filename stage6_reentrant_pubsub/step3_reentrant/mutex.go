// Package stage6 is step 6.3 on the way to the whole lock: a holder may take the lock
// again. Redis counts how often: the key is a hash with the owner and its count. A
// Lock with a hold's context re-enters, a Lock with any other context waits.
//
// It solves the holder that waits for itself, when it calls a function that takes the
// same lock. Only the last Unlock frees the lock.
//
// Not solved yet: waiters ask every 100 ms. They keep Redis busy while the lock is
// held, and when it becomes free they get it late.
//
//	go run . show crash-while-holding --stage 6.3
//
// Step 6.4 wakes them.
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

// acquireScript takes the lock for a new owner.
//
// KEYS[1] the lock's key: a hash {owner = count}
// ARGV[1] the owner
// ARGV[2] the lease in milliseconds
//
// Returns 1 if the lock was taken, 0 if another client holds it.
// It is an error if the key is no lock: an owner ends with a number, and its count is a number from 1 on.
var acquireScript = redis.NewScript(`-- acquire
local owners = redis.call("HLEN", KEYS[1]) -- an error if the key is not a hash
if owners > 0 then
	local lock = owners == 1 and redis.pcall("HGETALL", KEYS[1]) or {"", ""} -- pcall: the user may lack this right
	if not (lock.err or string.find(lock[1], ".:%d+$") and string.find(lock[2], "^[1-9]%d*$")) then
		return {err = "WRONGTYPE Operation against a key holding the wrong kind of value"}
	end
	return 0
end
redis.call("PEXPIRE", KEYS[1], ARGV[2]) -- fails before the key is written, if the user may not set a lease
redis.call("HSET", KEYS[1], ARGV[1], 1)
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
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

// TryLock makes one attempt. With the context of a hold of this lock it re-enters, and
// returns ErrLost when that hold is lost. Otherwise it returns ErrLocked when another
// owner holds the lock. After any other error, a lock that it may have taken is freed
// in the background. If the grant comes after its lease has ended it asks again, three
// times in all.
func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	if outer := m.carried(ctx); outer != nil {
		return outer.own.reenter(ctx)
	}
	for range attempts {
		owner, sent := uuid.NewString()+":1", time.Now()
		taken, err := acquireScript.Run(ctx, m.rdb, []string{m.key}, owner, m.ttl.Milliseconds()).Bool()
		if err != nil {
			if isUnknown(err) {
				go m.cleanUp(owner)
			}
			return nil, fmt.Errorf("stage6: lock %s: %w", m.key, err)
		}
		if !taken {
			return nil, ErrLocked
		}
		if time.Since(sent) < m.ttl {
			return m.newOwnership(ctx, owner, sent), nil
		}
		if _, err := m.setCount(owner, 0); err != nil { // the lease ended before the reply came: ask again
			go m.cleanUp(owner)
		}
	}
	return nil, fmt.Errorf("stage6: lock %s: the grant came after its lease of %v was over: the lease is too short for the way to Redis", m.key, m.ttl)
}

// Lock tries every 100 ms until it holds the lock, or re-enters. It returns the
// context's error when ctx ends between two attempts, and otherwise the first error of
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

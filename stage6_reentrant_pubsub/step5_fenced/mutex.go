// Package stage6 is step 6.5 on the way to the whole lock: each hold has a fencing
// token, which is higher than that of every owner before. The holder sends it with each
// write, and the resource refuses a token lower than the highest it has seen.
//
// It solves, together with the resource, what no lock can prevent: a holder that is
// paused for longer than its lease, and then writes. An operator may free the lock by
// force; its holder is told by its next renewal. An unlock whose outcome is unknown reads
// the last token: if it is still its own, no other client came, and the lock was freed.
//
// Not solved yet: the watchdog renews for as long as the process lives, also for a
// holder that is stuck, or that has forgotten to unlock.
//
//	go run . show renewed-for-ever --stage 6.5
//
// The whole lock limits a hold, and serves many locks and waiters at once.
package stage6

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const keyPrefix = "lock:"

// ErrLocked is returned by TryLock when another owner holds the lock.
var ErrLocked = errors.New("stage6: lock is held by somebody else")

// ErrNotHeld is returned by Unlock when the hold was released before.
var ErrNotHeld = errors.New("stage6: hold is released already")

// acquireScript takes the lock for a new owner, and gives it a fencing token. The
// counter may be lost in a failover or a flush, so a token is never lower than
// the clock of the server in microseconds.
//
// KEYS[1] the lock's key: a hash {owner = count}
// KEYS[2] the last fencing token
// ARGV[1] the owner
// ARGV[2] the lease in milliseconds
//
// Returns the token if the lock was taken. If another owner holds it, returns minus the
// milliseconds that its lease lasts, or minus our own lease for a lock without a lease.
// It is an error if the key is no lock: an owner ends with a number, and its count is a number from 1 on.
var acquireScript = redis.NewScript(`-- acquire
local owners = redis.call("HLEN", KEYS[1]) -- an error if the key is not a hash
if owners > 0 then
	local lock = owners == 1 and redis.pcall("HGETALL", KEYS[1]) or {"", ""} -- pcall: the user may lack this right
	if not (lock.err or string.find(lock[1], ".:%d+$") and string.find(lock[2], "^[1-9]%d*$")) then
		return {err = "WRONGTYPE Operation against a key holding the wrong kind of value"}
	end
	local left = redis.call("PTTL", KEYS[1])
	return -(left < 0 and ARGV[2] or left)
end
local last = redis.call("GET", KEYS[2]) or "0"
if not string.find(last, "^%d+$") or tonumber(last) >= 9007199254740991 then -- Lua counts no further
	return {err = "BADTOKEN the fencing token in Redis cannot be right: delete its key"}
end
local time = redis.call("TIME")
local clock = tonumber(time[1]) * 1000000 + tonumber(time[2])
local token = math.max(clock, tonumber(last) + 1)
redis.call("SET", KEYS[2], string.format("%.0f", token), "EX", 86400)
redis.call("PEXPIRE", KEYS[1], ARGV[2]) -- fails before the key is written, if the user may not set a lease
redis.call("HSET", KEYS[1], ARGV[1], 1)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return token
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
	hold, _, err := m.try(ctx)
	return hold, err
}

// try does what TryLock does. With ErrLocked it returns how long the holder's lease lasts.
func (m *Mutex) try(ctx context.Context) (*Hold, time.Duration, error) {
	if outer := m.carried(ctx); outer != nil {
		hold, err := outer.own.reenter(ctx)
		return hold, 0, err
	}
	for range attempts {
		owner, sent := uuid.NewString()+":1", time.Now()
		answer, err := acquireScript.Run(ctx, m.rdb, []string{m.key, m.key + ":token"}, owner, m.ttl.Milliseconds()).Int64()
		if err != nil {
			if isUnknown(err) {
				go m.cleanUp(owner)
			}
			return nil, 0, fmt.Errorf("stage6: lock %s: %w", m.key, err)
		}
		if answer <= 0 {
			return nil, time.Duration(-answer) * time.Millisecond, ErrLocked
		}
		if time.Since(sent) < m.ttl {
			return m.newOwnership(ctx, owner, answer, sent), 0, nil
		}
		if _, err := m.setCount(owner, 0); err != nil { // the lease ended before the reply came: ask again
			go m.cleanUp(owner)
		}
	}
	return nil, 0, fmt.Errorf("stage6: lock %s: the grant came after its lease of %v was over: the lease is too short for the way to Redis", m.key, m.ttl)
}

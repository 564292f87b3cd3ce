// Package doc4 is Redisson's lock as the WatchDog chapter quotes it, 问题4 to 问题9, rewritten
// in Go: RedissonLock. The chapter does not quote how it waits, see wait.go. The scripts
// of lock and unlock are Redisson's own.
//
// A thread is a goroutine here; [world.ClientName] identifies it by the context. Java's unlock
// has no context, so Unlock continues when its context ends.
package doc4

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// commandTimeout is Redisson's timeout for a reply.
const commandTimeout = 3 * time.Second

// ErrIllegalMonitorState is the exception of unlock.
var ErrIllegalMonitorState = errors.New("doc4: IllegalMonitorStateException: attempt to unlock lock, not locked by current thread")

var (
	lockScript = redis.NewScript(`-- lock
if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then
	redis.call('hincrby', KEYS[1], ARGV[2], 1);
	redis.call('pexpire', KEYS[1], ARGV[1]);
	return nil;
end;
return redis.call('pttl', KEYS[1]);`)
	unlockScript = redis.NewScript(`-- unlock
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then
	return nil;
end;
local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1);
if (counter > 0) then
	redis.call('pexpire', KEYS[1], ARGV[2]);
	return 0;
else
	redis.call('del', KEYS[1]);
	redis.call('publish', KEYS[2], ARGV[1]);
	return 1;
end;`)
	// renewScript is that of 问题7.
	renewScript = redis.NewScript(`-- renew
if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then
	redis.call('pexpire', KEYS[1], ARGV[1]);
	return 1;
end;
return 0;`)
)

// Lock is a RedissonLock.
type Lock struct {
	rdb                   redis.UniversalClient
	name, channel         string
	id                    string // of this Redisson client
	internalLockLeaseTime time.Duration
	leaseTime             time.Duration // -1: that of the watchdog
	turn                  chan struct{} // held by the waiter that polls Redis for the process

	mu    sync.Mutex
	entry *expirationEntry // the entry of EXPIRATION_RENEWAL_MAP for the name
}

// expirationEntry is 问题9: the thread of each hold, and the renewal task.
type expirationEntry struct {
	threadIDs []string
	timeout   *time.Timer
}

// New is getLock. With a leaseTime other than -1 there is no watchdog.
func New(rdb redis.UniversalClient, name string, lockWatchdogTimeout, leaseTime time.Duration) (*Lock, error) {
	return &Lock{
		rdb: rdb, name: name, channel: "redisson_lock__channel:{" + name + "}", id: uuid.NewString(),
		internalLockLeaseTime: lockWatchdogTimeout, leaseTime: leaseTime, turn: make(chan struct{}, 1),
	}, nil
}

func (l *Lock) lockName(threadID string) string { return l.id + ":" + threadID }

// tryAcquire is tryAcquireAsync of 问题6. It returns the remaining lease if the lock is taken.
func (l *Lock) tryAcquire(ctx context.Context) (ttl time.Duration, held bool, err error) {
	lease, threadID := l.internalLockLeaseTime, world.ClientName(ctx)
	if l.leaseTime != -1 {
		lease = l.leaseTime
	}
	remaining, err := lockScript.Run(ctx, l.rdb, []string{l.name}, lease.Milliseconds(), l.lockName(threadID)).Int64()
	held = errors.Is(err, redis.Nil)
	if held && l.leaseTime == -1 {
		l.scheduleExpirationRenewal(threadID)
	}
	if held {
		err = nil
	}
	return time.Duration(remaining) * time.Millisecond, held, err
}

// scheduleExpirationRenewal is that of 问题7.
func (l *Lock) scheduleExpirationRenewal(threadID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entry != nil {
		l.entry.threadIDs = append(l.entry.threadIDs, threadID)
		return
	}
	l.entry = &expirationEntry{threadIDs: []string{threadID}}
	l.renewExpiration()
}

// renewExpiration is that of 问题7. l.mu is held.
func (l *Lock) renewExpiration() {
	if l.entry == nil {
		return
	}
	l.entry.timeout = time.AfterFunc(l.internalLockLeaseTime/3, func() {
		l.mu.Lock()
		if l.entry == nil || len(l.entry.threadIDs) == 0 {
			l.mu.Unlock()
			return
		}
		first := l.entry.threadIDs[0]
		l.mu.Unlock()
		lease := l.internalLockLeaseTime.Milliseconds()
		renewed, err := renewScript.Run(context.Background(), l.rdb, []string{l.name}, lease, l.lockName(first)).Bool()
		if err != nil {
			return // "Can't update lock expiration"
		}
		if renewed {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.renewExpiration()
		}
	})
}

// Unlock is unlockAsync of 问题8.
func (l *Lock) Unlock(ctx context.Context) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTimeout)
	defer cancel()
	keys := []string{l.name, l.channel}
	err := unlockScript.Run(within, l.rdb, keys, 0, l.internalLockLeaseTime.Milliseconds(), l.lockName(world.ClientName(ctx))).Err()
	l.cancelExpirationRenewal(world.ClientName(ctx))
	if errors.Is(err, redis.Nil) {
		return ErrIllegalMonitorState
	}
	return err
}

// cancelExpirationRenewal is that of 问题8.
func (l *Lock) cancelExpirationRenewal(threadID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entry == nil {
		return
	}
	if at := slices.Index(l.entry.threadIDs, threadID); at >= 0 {
		l.entry.threadIDs = slices.Delete(l.entry.threadIDs, at, at+1)
	}
	if len(l.entry.threadIDs) == 0 {
		l.entry.timeout.Stop()
		l.entry = nil
	}
}

// HoldCount returns the thread's count in Redis.
func (l *Lock) HoldCount(ctx context.Context) (int, error) {
	count, err := l.rdb.HGet(ctx, l.name, l.lockName(world.ClientName(ctx))).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return count, err
}

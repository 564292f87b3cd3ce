// Package doc3 is the lock of Redis 分布式锁设计文档, sections 2 and 3, rewritten in Go:
// RedisDistributedLock, an object that a service keeps in a field (section 4.5).
//
// The document's unlock has no context, so Unlock continues when its context ends.
package doc3

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const (
	retryInterval  = 100 * time.Millisecond // section 7.2
	commandTimeout = 2 * time.Second        // DEFAULT_TIMEOUT of section 3.1
)

// ErrNotReleased is returned where the document's unlock returns false.
var ErrNotReleased = errors.New("doc3: unlock returns false")

var (
	// unlockScript is that of section 2.2.2.
	unlockScript = redis.NewScript(`-- unlock
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
else
    return 0
end`)
	// renewScript is that of section 2.4.3.
	renewScript = redis.NewScript(`-- renew
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
else
    return 0
end`)
)

// Lock is a RedisDistributedLock.
type Lock struct {
	rdb            redis.UniversalClient
	lockKey        string
	lockValue      string
	expire         time.Duration
	enableWatchdog bool

	mu             sync.Mutex
	reentrantCount map[string]int // REENTRANT_COUNT, of this process
	watchdogFuture context.CancelFunc
}

// New is the constructor with a name, an expireMs and an enableWatchdog.
func New(rdb redis.UniversalClient, lockName string, expire time.Duration, enableWatchdog bool) (*Lock, error) {
	return &Lock{
		rdb: rdb, lockKey: "distributed_lock:" + lockName, lockValue: uuid.NewString() + ":" + strconv.Itoa(1),
		expire: expire, enableWatchdog: enableWatchdog, reentrantCount: map[string]int{},
	}, nil
}

func (l *Lock) threadLockKey() string { return l.lockKey + ":" + l.lockValue }

// count changes the re-entry count and returns the previous one.
func (l *Lock) count(change func(was int) int) (was int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was = l.reentrantCount[l.threadLockKey()]
	l.reentrantCount[l.threadLockKey()] = change(was)
	return was
}

// TryLock is section 2.1.3.
func (l *Lock) TryLock(ctx context.Context) (bool, error) {
	again := func(was int) int {
		if was > 0 {
			return was + 1
		}
		return was
	}
	if l.count(again) > 0 {
		return true, nil
	}
	err := l.rdb.Do(ctx, "SET", l.lockKey, l.lockValue, "NX", "PX", l.expire.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.count(func(int) int { return 1 })
	if l.enableWatchdog {
		l.startWatchdog()
	}
	return true, nil
}

// Lock is tryLock(waitTime, unit): it polls every 100 ms.
func (l *Lock) Lock(ctx context.Context) error {
	for {
		if held, err := l.TryLock(ctx); err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}

// startWatchdog is section 2.4.4: a task of WATCHDOG_SCHEDULER.
func (l *Lock) startWatchdog() {
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.watchdogFuture = cancel
	l.mu.Unlock()
	go func() {
		for tick := time.NewTicker(l.expire / 3); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			renewed, err := renewScript.Run(ctx, l.rdb, []string{l.lockKey}, l.lockValue, l.expire.Milliseconds()).Int()
			if err == nil && renewed == 0 {
				return // the lock is no longer ours
			}
		}
	}()
}

func (l *Lock) stopWatchdog() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watchdogFuture != nil {
		l.watchdogFuture()
	}
}

// Unlock is section 2.2.3.
func (l *Lock) Unlock(ctx context.Context) error {
	if l.count(func(was int) int { return max(was-1, 0) }) > 1 {
		return nil
	}
	l.stopWatchdog()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTimeout)
	defer cancel()
	deleted, err := unlockScript.Run(within, l.rdb, []string{l.lockKey}, l.lockValue).Int()
	if err == nil && deleted == 0 {
		return ErrNotReleased
	}
	return err
}

// HoldCount returns the re-entry count.
func (l *Lock) HoldCount(context.Context) (int, error) {
	return l.count(func(was int) int { return was }), nil
}

// Package doc1 is the lock of the notes 分布式锁（看门狗版）接入与原理笔记, sections 二.2 to
// 二.4, rewritten in Go: RedisDistributedLock, with one object for each getLock(name).
//
// A thread of the document is a goroutine here; [world.ClientName] identifies it by the context.
// The document's unlock has no context, so Unlock continues when its context ends.
package doc1

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

const (
	retryInterval  = 100 * time.Millisecond
	commandTimeout = 2 * time.Second // of the Redis client
)

var (
	// renewScript is that of section 二.3.
	renewScript = redis.NewScript(`-- renew
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('pexpire', KEYS[1], ARGV[2])
else
	return 0
end`)
	// unlockScript is that of section 二.4.
	unlockScript = redis.NewScript(`-- unlock
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('del', KEYS[1])
else
	return 0
end`)
)

// Lock is a RedisDistributedLock.
type Lock struct {
	rdb                 redis.UniversalClient
	key                 string
	lockWatchdogTimeout time.Duration

	mu       sync.Mutex
	threads  map[string]*local  // the ThreadLocal
	watchdog context.CancelFunc // ends the ScheduledFuture; nil before the first one
}

// local is the state of a thread: how often it holds the lock, and the value that it wrote.
type local struct {
	count     int
	lockValue string
}

// GetLock is DistributedLockService.getLock, which returns a new object each time.
func GetLock(rdb redis.UniversalClient, name string, lockWatchdogTimeout time.Duration) (*Lock, error) {
	return &Lock{rdb: rdb, key: "lock:" + name, lockWatchdogTimeout: lockWatchdogTimeout, threads: map[string]*local{}}, nil
}

// local returns the state of the calling thread.
func (l *Lock) local(ctx context.Context) *local {
	l.mu.Lock()
	defer l.mu.Unlock()
	thread := world.ClientName(ctx)
	if l.threads[thread] == nil {
		l.threads[thread] = &local{}
	}
	return l.threads[thread]
}

// TryLock is section 二.2: re-entry, then SET NX EX, then the watchdog.
func (l *Lock) TryLock(ctx context.Context) (bool, error) {
	own := l.local(ctx)
	if own.count > 0 {
		own.count++
		return true, nil
	}
	value := uuid.NewString() + ":" + world.ClientName(ctx)
	err := l.rdb.Do(ctx, "SET", l.key, value, "NX", "EX", int(l.lockWatchdogTimeout.Seconds())).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	own.count, own.lockValue = 1, value
	l.startWatchdog(value)
	return true, nil
}

// Lock tries until it holds the lock.
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

// startWatchdog is section 二.3: a task of WATCHDOG_EXECUTOR.
func (l *Lock) startWatchdog(value string) {
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.watchdog = cancel
	l.mu.Unlock()
	go func() {
		for tick := time.NewTicker(l.lockWatchdogTimeout / 3); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			renewed, err := renewScript.Run(ctx, l.rdb, []string{l.key}, value, l.lockWatchdogTimeout.Milliseconds()).Int()
			if err != nil || renewed == 0 {
				return // the task throws an exception, and its executor ends it
			}
		}
	}()
}

// Unlock is section 二.4: the count, the watchdog, the script, the ThreadLocal.
func (l *Lock) Unlock(ctx context.Context) error {
	own := l.local(ctx)
	if own.count--; own.count > 0 {
		return nil
	}
	l.mu.Lock()
	stop := l.watchdog
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTimeout)
	defer cancel()
	if err := unlockScript.Run(within, l.rdb, []string{l.key}, own.lockValue).Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.threads, world.ClientName(ctx))
	return nil
}

// HoldCount returns the thread's count.
func (l *Lock) HoldCount(ctx context.Context) (int, error) { return l.local(ctx).count, nil }

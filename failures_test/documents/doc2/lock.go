// Package doc2 is the lock of the wiki page 分布式锁 (969251639/study), section 实现, rewritten
// in Go: RedisDistributedLock. LockSubscribe is subscribe.go.
//
// The page's tryLock(time, unit) is Lock here, with the context's deadline for its time. The
// page's unlock has no context, so Unlock continues when its context ends.
package doc2

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	lockScript = redis.NewScript(`-- lock
if (redis.call('exists', KEYS[1]) == 0) then
	redis.call('hset', KEYS[1], ARGV[2], 1);
	redis.call('expire', KEYS[1], ARGV[1]);
	return nil;
end;
if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then
	redis.call('hincrby', KEYS[1], ARGV[2], 1);
	redis.call('expire', KEYS[1], ARGV[1]);
	return nil;
end;
return redis.call('pttl', KEYS[1]);`)
	unlockScript = redis.NewScript(`-- unlock
if (redis.call('exists', KEYS[1]) == 0) then
	redis.call('publish', KEYS[2], ARGV[1]);
	return 1;
end;
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then
	return nil;
end;
local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1);
if (counter > 0) then
	redis.call('expire', KEYS[1], ARGV[2]);
	return 0;
else
	redis.call('del', KEYS[1]);
	redis.call('publish', KEYS[2], ARGV[1]);
	return 1;
end;
return nil;`)
	forceUnlockScript = redis.NewScript(`-- force
if (redis.call('del', KEYS[1]) == 1) then
	redis.call('publish', KEYS[2], ARGV[1]);
	return 1;
else
	return 0;
end`)
	renewalScript = redis.NewScript(`-- renew
if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then
	redis.call('expire', KEYS[1], ARGV[1]);
	return 1;
end;
return 0;`)
)

// The exceptions of the page.
var (
	ErrIllegalMonitorState = errors.New("doc2: IllegalMonitorStateException: 解锁线程与持有锁的线程不一致,解锁失败")
	ErrTimerCancelled      = errors.New("doc2: IllegalStateException: Timer already cancelled")
	ErrNonPositivePeriod   = errors.New("doc2: IllegalArgumentException: Non-positive period")
)

const (
	unlockMessage  = 0
	commandTimeout = 2 * time.Second // of the Redis client
)

// Lock is a RedisDistributedLock.
type Lock struct {
	rdb           redis.UniversalClient
	lockKey       string
	channel       string
	lockValue     string
	expireTime    int                // seconds
	timer         context.Context    // the java.util.Timer: its tasks run until it ends
	cancelTimer   context.CancelFunc // Timer.cancel
	tasks         chan struct{}      // a new task
	lockSubscribe lockSubscribe
}

// New is the constructor with a key and an expireTime.
func New(rdb redis.UniversalClient, lockKey string, expireTime time.Duration) (*Lock, error) {
	timer, cancel := context.WithCancel(context.Background())
	l := &Lock{
		rdb: rdb, lockKey: lockKey, channel: "lock__channel:" + lockKey, lockValue: uuid.NewString() + ":" + strconv.Itoa(1),
		expireTime: int(expireTime.Seconds()), timer: timer, cancelTimer: cancel,
		tasks: make(chan struct{}, 64), lockSubscribe: lockSubscribe{registering: make(chan struct{}, 1)},
	}
	go l.runTimer()
	return l, nil
}

// TryLock makes one attempt.
func (l *Lock) TryLock(ctx context.Context) (bool, error) {
	_, held, err := l.tryAcquire(ctx)
	return held && err == nil, err
}

// Lock is tryLock(waitTime, unit).
func (l *Lock) Lock(ctx context.Context) error {
	if _, held, err := l.tryAcquire(ctx); err != nil || held {
		return err
	}
	if err := l.lockSubscribe.subscribe(ctx, l.rdb, l.channel); err != nil {
		return err
	}
	defer l.lockSubscribe.unsubscribe()
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		left, held, err := l.tryAcquire(ctx)
		if err != nil || held {
			return err
		}
		l.lockSubscribe.wait(ctx, left)
	}
}

// tryAcquire makes one attempt. It returns the remaining lease if the lock is taken.
func (l *Lock) tryAcquire(ctx context.Context) (left time.Duration, held bool, err error) {
	result, err := lockScript.Run(ctx, l.rdb, []string{l.lockKey}, l.expireTime, l.lockValue).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, true, l.renewalExpiration()
	}
	return time.Duration(result) * time.Millisecond, false, err
}

// renewalExpiration adds a task to the timer.
func (l *Lock) renewalExpiration() error {
	if l.timer.Err() != nil {
		return ErrTimerCancelled
	}
	if l.period() <= 0 {
		return ErrNonPositivePeriod
	}
	l.tasks <- struct{}{}
	return nil
}

// period returns the time between two renewals.
func (l *Lock) period() time.Duration { return time.Duration(l.expireTime/3) * time.Second }

// runTimer is the Timer's thread: it runs the tasks one after the other. An exception ends
// it, as in Java.
func (l *Lock) runTimer() {
	var due []time.Time // the next time of each task
	for {
		var next <-chan time.Time
		if len(due) > 0 {
			next = time.After(time.Until(slices.MinFunc(due, time.Time.Compare)))
		}
		select {
		case <-l.timer.Done():
			return
		case <-l.tasks:
			due = append(due, time.Now().Add(l.period()))
		case now := <-next:
			for i := range due {
				if due[i].After(now) {
					continue
				}
				due[i] = due[i].Add(l.period())
				if renewalScript.Run(l.timer, l.rdb, []string{l.lockKey}, l.expireTime, l.lockValue).Err() != nil {
					l.cancelTimer()
				}
			}
		}
	}
}

// Unlock releases one hold.
func (l *Lock) Unlock(ctx context.Context) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTimeout)
	defer cancel()
	keys := []string{l.lockKey, l.channel}
	result, err := unlockScript.Run(within, l.rdb, keys, unlockMessage, l.expireTime, l.lockValue).Int64()
	switch {
	case errors.Is(err, redis.Nil):
		return ErrIllegalMonitorState
	case err != nil:
		return err
	case result == 1:
		l.cancelTimer()
	}
	return nil
}

// ForceUnlock frees the lock, even another client's.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	return forceUnlockScript.Run(ctx, l.rdb, []string{l.lockKey, l.channel}, unlockMessage).Bool()
}

// Close ends the Timer's thread and the listener, as the exit of the application does.
func (l *Lock) Close() error {
	l.cancelTimer()
	return l.lockSubscribe.close()
}

// HoldCount is getHoldCount.
func (l *Lock) HoldCount(ctx context.Context) (int, error) {
	return l.rdb.HGet(ctx, l.lockKey, l.lockValue).Int()
}

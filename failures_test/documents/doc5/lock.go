// Package doc5 is the lock that 分布式锁 develops in its stages 阶段二 (实现方案二) to 阶段五,
// rewritten in Go. Its daemon is that of sections 3.2 to 3.4.
//
// A thread is a goroutine here; [world.ClientName] identifies it by the context. The document's
// unlock has no context, so Unlock continues when its context ends.
package doc5

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

// ErrNotHeld is what Unlock returns when the key has another value.
var ErrNotHeld = errors.New("doc5: the lock is not held")

var (
	// unlockScript is 阶段四.
	unlockScript = redis.NewScript(`-- unlock
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('del', KEYS[1])
end
return 0`)
	// renewScript renews the lease only while the value is the same (3.2).
	renewScript = redis.NewScript(`-- renew
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0`)
)

// Lock is a lock with one name.
type Lock struct {
	rdb     redis.UniversalClient
	key     string
	process string // with the thread, it identifies the owner
	expire  time.Duration
	daemon  bool

	mu   sync.Mutex
	stop context.CancelFunc // ends the daemon
}

// New returns a lock. Without a daemon the lease is not renewed (3.3).
func New(rdb redis.UniversalClient, name string, expire time.Duration, daemon bool) (*Lock, error) {
	return &Lock{rdb: rdb, key: name, process: uuid.NewString(), expire: expire, daemon: daemon, stop: func() {}}, nil
}

// value identifies the calling thread (阶段三).
func (l *Lock) value(ctx context.Context) string { return l.process + ":" + world.ClientName(ctx) }

// TryLock is 阶段二: one command.
func (l *Lock) TryLock(ctx context.Context) (bool, error) {
	err := l.rdb.Do(ctx, "SET", l.key, l.value(ctx), "EX", int(l.expire.Seconds())).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if l.daemon {
		l.renew(l.value(ctx))
	}
	return true, nil
}

// Lock tries until it holds the lock (3.1).
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

// renew is 阶段五: a daemon, every third of the lease.
func (l *Lock) renew(value string) {
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.stop()
	l.stop = cancel
	l.mu.Unlock()
	go func() {
		for tick := time.NewTicker(l.expire / 3); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			renewed, err := renewScript.Run(ctx, l.rdb, []string{l.key}, value, l.expire.Milliseconds()).Int()
			if err != nil || renewed == 0 {
				return
			}
		}
	}()
}

// Unlock is 阶段四: the comparison and the delete in one script.
func (l *Lock) Unlock(ctx context.Context) error {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTimeout)
	defer cancel()
	deleted, err := unlockScript.Run(within, l.rdb, []string{l.key}, l.value(ctx)).Int()
	if err == nil && deleted == 0 {
		return ErrNotHeld
	}
	return err
}

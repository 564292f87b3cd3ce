package main

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/zeromicro/go-zero/core/logx"
	zero "github.com/zeromicro/go-zero/core/stores/redis"

	failures "lockkata/failures_test"
)

// zeroLocker is go-zero's RedisLock as its documentation says: NewRedisLock,
// SetExpire, Acquire, Release. Its demo leaves the waiting to the caller, who asks
// again every 100 ms here.
type zeroLocker struct {
	lock *zero.RedisLock
	wire *redis.Client
}

// zeroStores counts the stores: go-zero keeps one client for each address.
var zeroStores atomic.Int64

func newGoZero(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	seconds := int(lease / time.Second)
	if seconds < 1 {
		return nil, fmt.Errorf("go-zero: a lease of %v: SetExpire takes whole seconds", lease)
	}
	logx.Disable()
	client, ok := rdb.(*redis.Client)
	if !ok {
		return nil, fmt.Errorf("go-zero: a %T has no options to copy", rdb)
	}
	wire := redis.NewClient(zeroOptions(client.Options()))
	store, err := zero.NewRedis(zero.RedisConf{
		Host: fmt.Sprintf("/world/%d", zeroStores.Add(1)), Type: zero.NodeType,
		NonBlock: true, DisableIdentity: true, MaintNotifications: "disabled",
	}, zero.WithHook(toWire{wire}))
	if err != nil {
		return nil, err
	}
	lock := zero.NewRedisLock(store, name)
	lock.SetExpire(seconds)
	return &zeroLocker{lock: lock, wire: wire}, nil
}

// zeroOptions are those of go-zero's own client on the world's wire: three
// retries, and a deadline does not end a command that is on its way. Only the pause
// between retries is left out, since it is random.
func zeroOptions(o *redis.Options) *redis.Options {
	own := *o
	own.MaxRetries = 3
	own.MinRetryBackoff, own.MaxRetryBackoff = -1, -1
	own.ContextTimeoutEnabled = false
	return &own
}

// toWire takes the commands of go-zero's client, behind all of go-zero's own
// hooks, to the wire: go-zero lets nobody choose a dialer.
type toWire struct{ wire *redis.Client }

// DialHook gives go-zero's own client connections that lead nowhere: it opens some
// to have them at hand, and then uses none.
func (toWire) DialHook(redis.DialHook) redis.DialHook {
	return func(context.Context, string, string) (net.Conn, error) {
		conn, _ := net.Pipe()
		return conn, nil
	}
}

// ProcessHook sends a command.
func (h toWire) ProcessHook(redis.ProcessHook) redis.ProcessHook { return h.wire.Process }

// ProcessPipelineHook refuses: the lock sends no pipelines.
func (toWire) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Lock waits for the lock.
func (l *zeroLocker) Lock(ctx context.Context) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		held, err := l.TryLock(ctx)
		if held || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// TryLock makes one attempt.
func (l *zeroLocker) TryLock(ctx context.Context) (bool, error) {
	held, err := l.lock.AcquireCtx(ctx)
	return held, said(ctx, err)
}

// Unlock releases as the documentation does, with no context of the caller's.
func (l *zeroLocker) Unlock(context.Context) error {
	released, err := l.lock.Release()
	if err == nil && !released {
		return errNotHeld
	}
	return err
}

// Close ends the client on the wire.
func (l *zeroLocker) Close() error { return l.wire.Close() }

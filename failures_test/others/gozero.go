package others

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
	"lockkata/failures_test/adapters"
)

// GoZero is go-zero's RedisLock as its documentation shows it, without renewal, because it has no
// method for it.
var GoZero = failures.Subject{
	Name: "go-zero", New: adapters.Plain(newGoZero),
	Has: []failures.Feature{failures.Scripts},
	SkipFrames: []string{
		"github.com/zeromicro/go-zero/core/stores/redis.(*Redis).", "github.com/zeromicro/go-zero/core/stores/redis.(*breakerHook)",
		"github.com/zeromicro/go-zero/core/stores/redis.(*durationHook)", "github.com/zeromicro/go-zero/core/breaker.",
		"lockkata/failures_test/others.toWire",
	},
}

type zeroLocker struct {
	lock *zero.RedisLock
	wire *redis.Client
}

// zeroStores numbers the stores: go-zero keeps one client for each address.
var zeroStores atomic.Int64

func newGoZero(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	logx.Disable()
	client, ok := rdb.(*redis.Client)
	if !ok || lease < time.Second {
		return nil, fmt.Errorf("go-zero: a %T and a lease of %v: it needs options to copy, and whole seconds", rdb, lease)
	}
	// These are the options of go-zero's own client: three retries, and a deadline does not end a
	// command in flight. The pauses between retries are left out, because they are random.
	own := *client.Options()
	own.MaxRetries, own.MinRetryBackoff, own.MaxRetryBackoff = 3, -1, -1
	own.ContextTimeoutEnabled = false
	wire := redis.NewClient(&own)
	store, err := zero.NewRedis(zero.RedisConf{
		Host: fmt.Sprintf("/world/%d", zeroStores.Add(1)), Type: zero.NodeType,
		NonBlock: true, DisableIdentity: true, MaintNotifications: "disabled",
	}, zero.WithHook(toWire{wire}))
	if err != nil {
		return nil, err
	}
	lock := zero.NewRedisLock(store, name)
	lock.SetExpire(int(lease / time.Second))
	return &zeroLocker{lock, wire}, nil
}

// toWire is the last hook of go-zero's client. It sends the commands to the world's wire, because
// go-zero has no option for a dialer.
type toWire struct{ wire *redis.Client }

// DialHook returns connections to nowhere: go-zero's own client opens some idle connections and
// never uses them.
func (toWire) DialHook(redis.DialHook) redis.DialHook {
	return func(context.Context, string, string) (net.Conn, error) {
		conn, _ := net.Pipe()
		return conn, nil
	}
}

// ProcessHook sends a command.
func (h toWire) ProcessHook(redis.ProcessHook) redis.ProcessHook { return h.wire.Process }

// ProcessPipelineHook changes nothing: the lock sends no pipelines.
func (toWire) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Lock polls until it gets the lock; go-zero leaves that to its caller.
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
	return held, withContextError(ctx, err)
}

// Unlock releases the lock as the documentation does, without the caller's context.
func (l *zeroLocker) Unlock(context.Context) error { return released(l.lock.Release()) }

// Close closes the client on the wire.
func (l *zeroLocker) Close() error { return l.wire.Close() }

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
	"lockkata/failures_test/world"
)

const (
	zeroPage = "https://go-zero.dev/en/docs/tutorials/redis/redis-lock"
	zeroLock = "core/stores/redis/redislock.go"
)

var goZeroLibrary = library{
	Name: "go-zero", Module: "github.com/zeromicro/go-zero",
	Source: "https://github.com/zeromicro/go-zero/blob/",
	Way:    "NewRedisLock, SetExpire; Acquire every 100 ms, Release; no renewal: there is no method for it",
	Untold: map[string]string{"lease-below-a-second": "it takes whole seconds"},
	Subject: failures.Subject{
		Name: "go-zero", New: newGoZero(false),
		Has: []failures.Feature{failures.Scripts},
		SkipFrames: []string{
			"github.com/zeromicro/go-zero/core/stores/redis.(*Redis).", "github.com/zeromicro/go-zero/core/stores/redis.(*breakerHook)",
			"github.com/zeromicro/go-zero/core/stores/redis.(*durationHook)", "github.com/zeromicro/go-zero/core/breaker.",
			"main.toWire", "lockkata/failures_test/others/cards.toWire", // in a test
		},
	},
	Promises: map[property]promise{
		excludes: {Word: promised, Says: "Acquire tells whether it got the lock", File: zeroPage},
		ends:     {promised, "a lock has an expiration time", zeroLock, 103, "SetExpire sets"},
		renews: {Word: promised, File: zeroPage,
			Says: "its page says: automatic renewal. There is no renewal: a caller that acquires again starts the lease anew"},
		tellsEnd: {Word: promised, Says: "Release tells whether it released", File: zeroPage},
		owned: {Word: promised, File: zeroPage,
			Says: "a random version number prevents the release of a lock that has expired"},
		limits: {promised, "a lock has an expiration time", zeroLock, 103, "SetExpire sets"},
		wakes:  {Word: limited, Says: "the demo leaves the waiting to the caller", File: zeroPage},
		orders: {Word: limited, Says: "the demo leaves the waiting to the caller", File: zeroPage},
		frees:  {promised, "Release takes no context", zeroLock, 83, "Release releases"},
		reenters: {Word: promised, File: zeroPage,
			Says: "its page says: can reenter. The holds are not counted, so the first Release frees all of them"},
		answers: {Word: promised, Says: "Acquire returns a bool and an error", File: zeroPage},
	},
}

// zeroLocker is go-zero's RedisLock as its documentation says: NewRedisLock,
// SetExpire, Acquire, Release. Its demo leaves the waiting to the caller, who asks
// again every 100 ms here.
type zeroLocker struct {
	lock      *zero.RedisLock
	wire      *redis.Client
	onRequest bool // Unlock gets the caller's context
}

// zeroStores counts the stores: go-zero keeps one client for each address.
var zeroStores atomic.Int64

func newGoZero(onRequest bool) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		logx.Disable()
		client, ok := rdb.(*redis.Client)
		if !ok || lease < time.Second {
			return nil, fmt.Errorf("go-zero: a %T and a lease of %v: it needs options to copy, and whole seconds", rdb, lease)
		}
		// The options of go-zero's own client: three retries, and a deadline does not end a
		// command that is on its way. Only the pause between retries is left out, since it
		// is random.
		own := *client.Options()
		world.DefaultRetries(&own)
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
		return &zeroLocker{lock, wire, onRequest}, nil
	}
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

// ProcessPipelineHook changes nothing: the lock sends no pipelines.
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
func (l *zeroLocker) Unlock(ctx context.Context) error {
	if l.onRequest {
		return released(l.lock.ReleaseCtx(ctx))
	}
	return released(l.lock.Release())
}

// Close ends the client on the wire.
func (l *zeroLocker) Close() error { return l.wire.Close() }

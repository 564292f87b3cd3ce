package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// rueidisLocker is rueidislock as its README says for one Redis >= 7.0.5: one key,
// NoLoopTracking, WithContext, and cancel to release. Its client is rueidis's own;
// only the connections are the world's.
type rueidisLocker struct {
	option rueidislock.LockerOption
	name   string

	mu     sync.Mutex
	locker rueidislock.Locker // made by the first call: making it asks Redis
	holds  map[string]*rueidisHold
}

type rueidisHold struct {
	ctx      context.Context
	cancel   context.CancelFunc
	released bool // by its holder; guarded by the locker's mutex
}

func newRueidislock(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	client, ok := rdb.(*redis.Client)
	if !ok {
		return nil, errors.New("rueidislock: there is no wire to dial")
	}
	dial := client.Options().Dialer
	return &rueidisLocker{
		name: name, holds: map[string]*rueidisHold{},
		option: rueidislock.LockerOption{
			ClientBuilder:  newAttributed,
			KeyMajority:    1,
			NoLoopTracking: true,
			KeyValidity:    lease,
			TryNextAfter:   lease / 5,
			ClientOption: rueidis.ClientOption{
				InitAddress:       []string{"127.0.0.1:6379"},
				ForceSingleClient: true,
				ClientSetInfo:     rueidis.DisableClientSetInfo,
				Dialer:            net.Dialer{KeepAlive: time.Hour}, // else it pings, which is none of the lock's business
				DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return dial(ctx, "tcp", addr)
				},
			},
		},
	}, nil
}

// open makes the locker.
func (l *rueidisLocker) open() (rueidislock.Locker, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.locker == nil {
		l.locker, err = rueidislock.NewLocker(l.option)
	}
	return l.locker, err
}

// Lock waits for the lock.
func (l *rueidisLocker) Lock(ctx context.Context) error {
	return l.acquire(ctx, rueidislock.Locker.WithContext)
}

// TryLock makes one attempt.
func (l *rueidisLocker) TryLock(ctx context.Context) (bool, error) {
	err := l.acquire(ctx, rueidislock.Locker.TryWithContext)
	if errors.Is(err, rueidislock.ErrNotLocked) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

type withContext func(rueidislock.Locker, context.Context, string) (context.Context, context.CancelFunc, error)

// acquire bounds the wait by the caller's context, but not the hold: rueidislock
// takes one context for both, and would give the lock up when a deadline passes
// that was meant for the waiting.
func (l *rueidisLocker) acquire(ctx context.Context, with withContext) error {
	locker, err := l.open()
	if err != nil {
		return err
	}
	whole, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	holding, cancel, err := with(locker, whole, l.name)
	stop()
	if err != nil {
		end()
		return said(ctx, fromRedis(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds[world.Lane(ctx)] = &rueidisHold{ctx: holding, cancel: func() { cancel(); end() }}
	return nil
}

// Unlock invokes cancel, which tells nothing. The holder looks at its context
// first, as it would to know whether its work was protected.
func (l *rueidisLocker) Unlock(ctx context.Context) error {
	l.mu.Lock()
	hold := l.holds[world.Lane(ctx)]
	if hold == nil || hold.released {
		l.mu.Unlock()
		return errNotHeld
	}
	hold.released = true
	l.mu.Unlock()
	lost := hold.ctx.Err() != nil
	hold.cancel()
	if lost {
		return errNotHeld
	}
	return nil
}

// Lost is closed when the hold's context ends.
func (l *rueidisLocker) Lost(ctx context.Context) (ended <-chan struct{}, isLost func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	hold := l.holds[world.Lane(ctx)]
	if hold == nil {
		return nil, nil
	}
	return hold.ctx.Done(), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return !hold.released
	}
}

// Close ends the client.
func (l *rueidisLocker) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locker != nil {
		l.locker.Close()
	}
	return nil
}

// Package causes is a lock that its author began with stage 5, and right: a watchdog with a ticker, a cause, a WaitGroup and atomics.
package causes

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	errStopped = errors.New("watchdog stopped")
	errGone    = errors.New("lock is gone")
	ErrNotHeld = errors.New("lock not held")
)

var scripts = struct{ del, renew *redis.Script }{
	del:   redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`),
	renew: redis.NewScript(`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`),
}

type config struct {
	every time.Duration
	watch bool
}

type Option interface{ apply(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

func WithoutWatchdog() Option { return optionFunc(func(c *config) { c.watch = false }) }

type Mutex struct {
	config
	rdb   redis.UniversalClient
	key   string
	ttl   time.Duration
	owner string
	dog   *dog
}

type dog struct {
	stop     context.CancelCauseFunc
	wg       sync.WaitGroup
	renewals atomic.Int64
	last     atomic.Value
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, opts ...Option) (*Mutex, error) {
	c := config{every: ttl / 3, watch: true}
	for _, o := range opts {
		o.apply(&c)
	}
	if c.watch && c.every <= 0 {
		return nil, fmt.Errorf("ttl %s is too short", ttl)
	}
	return &Mutex{config: c, rdb: rdb, key: "lock:" + name, ttl: ttl}, nil
}

func (m *Mutex) TryLock(ctx context.Context) (bool, error) {
	owner := uuid.NewString()
	switch err := m.rdb.Do(ctx, "set", m.key, owner, "px", m.ttl.Milliseconds(), "nx").Err(); err {
	case nil:
	case redis.Nil:
		return false, nil
	default:
		return false, err
	}
	m.owner = owner
	if m.watch {
		m.start()
	}
	return true, nil
}

func (m *Mutex) start() {
	ctx, stop := context.WithCancelCause(context.Background())
	d := &dog{stop: stop}
	d.wg.Add(1)
	go m.bark(ctx, d, m.owner)
	m.dog = d
}

func (m *Mutex) bark(ctx context.Context, d *dog, owner string) {
	defer d.wg.Done()
	tick := time.NewTicker(m.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errStopped) {
				log.Printf("watchdog: %v", cause)
			}
			return
		case now := <-tick.C:
			call, cancel := context.WithTimeout(ctx, m.every)
			n, err := scripts.renew.Run(call, m.rdb, []string{m.key}, owner, m.ttl.Milliseconds()).Int64()
			cancel()
			if err == nil && n == 0 {
				d.stop(errGone)
				continue
			}
			d.last.Store(now)
			d.renewals.Add(n)
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) error {
	for {
		held, err := m.TryLock(ctx)
		if held || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (m *Mutex) Unlock(ctx context.Context) error {
	if m.owner == "" {
		return ErrNotHeld
	}
	if m.dog != nil {
		m.dog.stop(errStopped)
		m.dog.wg.Wait()
		m.dog = nil
	}
	n, err := scripts.del.Run(ctx, m.rdb, []string{m.key}, m.owner).Int()
	if err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	m.owner = ""
	if n == 0 {
		return ErrNotHeld
	}
	return nil
}

// Package s07: from step 6.1, correct. Embedded interfaces, AfterFunc, WithoutCancel, Join.
package s07

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrLocked  = errors.New("s07: somebody else holds the lock")
	ErrLost    = errors.New("s07: hold lost")
	ErrNotHeld = errors.New("s07: released before")
)

type runner interface {
	redis.Scripter
}

type evaluator struct {
	runner
	key string
}

func (e evaluator) run(ctx context.Context, s *redis.Script, args ...interface{}) (int64, error) {
	v, err := s.Run(ctx, e.runner, []string{e.key}, args...).Result()
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	if !ok {
		return 0, fmt.Errorf("script said %#v", v)
	}
	return n, nil
}

var (
	free   = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end return redis.call("DEL", KEYS[1])`)
	extend = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end return redis.call("PEXPIRE", KEYS[1], ARGV[2])`)
)

type Mutex struct {
	evaluator
	rdb redis.UniversalClient
	ttl time.Duration
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	if ttl < 9*time.Millisecond {
		return nil, errors.New("s07: ttl too short")
	}
	return &Mutex{evaluator{rdb, "lock:" + name}, rdb, ttl}, nil
}

type Hold struct {
	*Mutex
	owner string
	ctx   context.Context
	end   context.CancelCauseFunc

	mu       sync.Mutex
	deadline time.Time
	released bool
	stopped  chan struct{}
}

func (h *Hold) Context() context.Context { return h.ctx }

func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	h := &Hold{Mutex: m, owner: uuid.NewString(), stopped: make(chan struct{})}
	sent := time.Now()
	set, err := m.rdb.SetNX(ctx, m.key, h.owner, m.ttl).Result()
	if err != nil {
		return nil, fmt.Errorf("s07: lock %s: %w", m.key, err)
	}
	if !set {
		return nil, ErrLocked
	}
	h.deadline = sent.Add(m.ttl)
	if !time.Now().Before(h.deadline) {
		return nil, ErrLost
	}
	h.ctx, h.end = context.WithCancelCause(ctx)
	go h.keep(context.WithoutCancel(ctx))
	return h, nil
}

func (h *Hold) keep(base context.Context) {
	defer close(h.stopped)
	next := time.NewTimer(h.ttl / 3)
	defer next.Stop()
	for {
		h.mu.Lock()
		left := time.Until(h.deadline)
		h.mu.Unlock()
		late := time.NewTimer(left)
		select {
		case <-h.ctx.Done():
			late.Stop()
			if errors.Is(context.Cause(h.ctx), ErrNotHeld) {
				return
			}
		case <-late.C:
			h.end(ErrLost)
			return
		case <-next.C:
			late.Stop()
		}
		sent := time.Now()
		ctx, cancel := context.WithDeadline(base, minTime(h.deadline, sent.Add(h.ttl/3)))
		n, err := h.run(ctx, extend, h.owner, h.ttl.Milliseconds())
		cancel()
		switch {
		case err == nil && n == 0:
			h.end(ErrLost)
			return
		case err == nil:
			h.mu.Lock()
			h.deadline = sent.Add(h.ttl)
			h.mu.Unlock()
			next.Reset(h.ttl / 3)
		default:
			next.Reset(h.ttl / 10)
		}
		if h.ctx.Err() != nil {
			return
		}
	}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	for {
		h, err := m.TryLock(ctx)
		if err == nil {
			return h, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, err
		}
		woken := make(chan struct{})
		stop := context.AfterFunc(ctx, func() { close(woken) })
		select {
		case <-woken:
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
			stop()
		}
	}
}

func (h *Hold) Unlock(ctx context.Context) error {
	h.mu.Lock()
	again := h.released
	h.mu.Unlock()
	if again {
		return ErrNotHeld
	}
	if errors.Is(context.Cause(h.ctx), ErrLost) {
		return ErrLost
	}
	h.end(ErrNotHeld)
	<-h.stopped
	n, err := h.run(ctx, free, h.owner)
	if err != nil {
		return fmt.Errorf("s07: unlock %s: %w", h.key, err)
	}
	h.mu.Lock()
	h.released = true
	h.mu.Unlock()
	if n == 0 {
		return ErrLost
	}
	return nil
}

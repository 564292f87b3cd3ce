// Package s15: from step 6.1, one bug: a shadowed err, so a failed renewal is taken for a success.
package s15

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type NotHeldError struct {
	Key   string
	Since time.Duration
}

func (e NotHeldError) Error() string { return fmt.Sprintf("%s is not held since %v", e.Key, e.Since) }

var (
	ErrLocked = errors.New("locked")
	ErrLost   = fmt.Errorf("lost: %w", context.Canceled)
)

type key struct{}

type core struct {
	rdb redis.UniversalClient
	ttl time.Duration
	log func(format string, args ...any)
}

func (c *core) script(ctx context.Context, lua string, key, owner string, more ...any) (n int64, err error) {
	n, err = c.rdb.Eval(ctx, lua, []string{key}, append([]any{owner}, more...)...).Int64()
	if err != nil {
		c.log("%s: %v", key, err)
	}
	return
}

type Mutex struct {
	*core
	key string
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	c := &core{rdb: rdb, ttl: ttl, log: func(f string, args ...any) { slog.Debug(fmt.Sprintf(f, args...)) }}
	return &Mutex{core: c, key: "lock:" + name}, nil
}

type Hold struct {
	Mutex
	owner string
	ctx   context.Context
	lose  context.CancelCauseFunc
	timer *time.Timer
	mu    sync.Mutex
	until time.Time
	over  bool
}

func (h *Hold) Context() context.Context { return h.ctx }
func (h *Hold) Owner() string            { s, _ := h.ctx.Value(key{}).(string); return s }

func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	h := &Hold{Mutex: *m, owner: uuid.NewString(), until: time.Now().Add(m.ttl)}
	got, err := m.rdb.SetNX(ctx, m.key, h.owner, m.ttl).Result()
	switch {
	case err != nil:
		return nil, err
	case !got:
		return nil, ErrLocked
	}
	h.ctx, h.lose = context.WithCancelCause(context.WithValue(ctx, key{}, h.owner))
	h.timer = time.AfterFunc(m.ttl/3, h.renew)
	return h, nil
}

func (h *Hold) renew() {
	sent := time.Now()
	var err error
	if h.alive() {
		ctx, cancel := context.WithTimeout(context.Background(), h.ttl/3)
		defer cancel()
		n, err := h.script(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`,
			h.key, h.Owner(), h.ttl.Milliseconds())
		if err == nil && n == 0 {
			h.lose(ErrLost)
			return
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	if err == nil {
		h.until = sent.Add(h.ttl)
	} else if time.Now().After(h.until) {
		h.lose(ErrLost)
	}
	h.timer.Reset(h.ttl / 3)
}

func (h *Hold) alive() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.over
}

func (m *Mutex) Lock(ctx context.Context) (h *Hold, err error) {
	for h, err = m.TryLock(ctx); errors.Is(err, ErrLocked); h, err = m.TryLock(ctx) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return
}

func (h *Hold) Release(ctx context.Context) error {
	h.mu.Lock()
	if h.over {
		defer h.mu.Unlock()
		return NotHeldError{h.key, time.Since(h.until)}
	}
	h.over = true
	h.timer.Stop()
	h.mu.Unlock()
	if cause := context.Cause(h.ctx); errors.Is(cause, ErrLost) {
		return cause
	}
	n, err := h.script(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, h.key, h.owner)
	if err == nil && n == 0 {
		err = ErrLost
	}
	h.lose(nil)
	return err
}

// Package wakeups is a lock that its author began with step 6.1, and right as far as it goes: pub/sub, iterators.
package wakeups

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrLocked   = errors.New("wakeups: locked")
	ErrLost     = errors.New("wakeups: lost")
	errReleased = errors.New("wakeups: released")
)

var freeing = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
	return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", KEYS[2], "freed")
return 1`)

var renewing = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
	return 0
end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`)

type Mutex struct {
	rdb          redis.UniversalClient
	key, channel string
	ttl          time.Duration
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb: rdb, key: "lock:" + name, channel: "freed:" + name, ttl: ttl}, nil
}

// backoff yields pauses that double.
func backoff(first, most time.Duration) iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		for i, d := 0, first; yield(i, d); i, d = i+1, min(2*d, most) {
		}
	}
}

func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	owner, sent := uuid.NewString(), time.Now()
	got, err := m.rdb.SetNX(ctx, m.key, owner, m.ttl).Result()
	if err != nil {
		return nil, fmt.Errorf("wakeups: %w", err)
	}
	if !got {
		return nil, ErrLocked
	}
	if time.Since(sent) >= m.ttl {
		return nil, ErrLost
	}
	h := &Hold{m: m, owner: owner, done: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	h.deadline.Store(sent.Add(m.ttl).UnixNano())
	go h.renew()
	return h, nil
}

func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	h, err := m.TryLock(ctx)
	if !errors.Is(err, ErrLocked) {
		return h, err
	}
	sub := m.rdb.Subscribe(ctx, m.channel)
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		return nil, fmt.Errorf("wakeups: subscribe: %w", err)
	}
	freed := sub.Channel(redis.WithChannelHealthCheckInterval(0))
	for n, pause := range backoff(100*time.Millisecond, time.Second) {
		if h, err = m.TryLock(ctx); !errors.Is(err, ErrLocked) {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wakeups: after %d tries: %w", n+2, ctx.Err())
		case msg, ok := <-freed:
			if !ok {
				return nil, errors.New("wakeups: channel closed")
			}
			_ = msg.Payload
		case <-time.After(pause):
		}
	}
	panic("unreachable")
}

type Hold struct {
	m        *Mutex
	owner    string
	ctx      context.Context
	cancel   context.CancelCauseFunc
	deadline atomic.Int64
	done     chan struct{}
	released atomic.Bool
}

func (h *Hold) Context() context.Context { return h.ctx }

func (h *Hold) until() time.Time { return time.Unix(0, h.deadline.Load()) }

func (h *Hold) renew() {
	defer close(h.done)
	for wait := h.m.ttl / 3; ; {
		select {
		case <-h.ctx.Done():
			if context.Cause(h.ctx) == errReleased {
				return
			}
			if time.Now().After(h.until()) {
				return
			}
			select {
			case <-time.After(time.Until(h.until())):
			}
			return
		case <-time.After(min(wait, time.Until(h.until()))):
		}
		if !time.Now().Before(h.until()) {
			h.cancel(ErrLost)
			return
		}
		sent := time.Now()
		ctx, cancel := context.WithDeadline(context.Background(), h.until())
		n, err := renewing.Run(ctx, h.m.rdb, []string{h.m.key}, h.owner, h.m.ttl.Milliseconds()).Int()
		cancel()
		if err != nil {
			wait = h.m.ttl / 12
			continue
		}
		if n == 0 {
			h.cancel(ErrLost)
			return
		}
		wait = h.m.ttl / 3
		h.deadline.Store(sent.Add(h.m.ttl).UnixNano())
	}
}

func (h *Hold) Unlock(ctx context.Context) error {
	if h.released.Load() {
		return errReleased
	}
	if context.Cause(h.ctx) == ErrLost {
		return ErrLost
	}
	h.cancel(errReleased)
	<-h.done
	n, err := freeing.Run(ctx, h.m.rdb, []string{h.m.key, h.m.channel}, h.owner).Int()
	if err != nil {
		return err
	}
	h.released.Store(true)
	if n == 0 {
		return ErrLost
	}
	return nil
}

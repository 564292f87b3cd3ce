// Package embedding is a lock that its author began with step 6.1, and right: embedded pointers and interfaces, methods bound early.
package embedding

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrLocked  = errors.New("embedding: locked")
	ErrLost    = errors.New("embedding: lost")
	errNotHeld = fmt.Errorf("embedding: %w", errors.New("not held"))
)

type clock struct{ now func() time.Time }

type timed struct {
	*clock
	deadline atomic.Pointer[time.Time]
}

func (t *timed) extend(from time.Time, by time.Duration) time.Time {
	until := from.Add(by)
	t.deadline.Store(&until)
	return until
}

func (t *timed) left() time.Duration { return t.deadline.Load().Sub(t.now()) }

type ender struct {
	context.Context
	cancel context.CancelCauseFunc
}

func (e ender) why() error { return context.Cause(e.Context) }

type state uint32

const (
	running state = iota
	releasing
	released
)

type Hold struct {
	*lock
	timed
	ender
	id    string
	state atomic.Uint32
	done  sync.WaitGroup
}

type lock struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration
}

type Mutex struct {
	*lock
	clock *clock
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{&lock{rdb, name, ttl}, &clock{time.Now}}, nil
}

func (l *lock) eval(ctx context.Context, script string, args ...any) (bool, error) {
	switch n, err := l.rdb.Eval(ctx, script, []string{l.key}, args...).Int(); {
	case err != nil:
		return false, err
	default:
		return n > 0, nil
	}
}

func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	h := &Hold{lock: m.lock, id: uuid.NewString(), timed: timed{clock: m.clock}}
	sent := h.now()
	ok, err := m.rdb.SetNX(ctx, m.key, h.id, m.ttl).Result()
	if err != nil || !ok {
		return nil, map[bool]error{true: err, false: ErrLocked}[err != nil]
	}
	if h.extend(sent, m.ttl); h.left() <= 0 {
		return nil, ErrLost
	}
	h.Context, h.cancel = context.WithCancelCause(ctx)
	h.done.Add(1)
	go h.renew(h.left)
	return h, nil
}

func (h *Hold) Inside() context.Context { return h.ender.Context }

func (h *Hold) renew(left func() time.Duration) {
	defer h.done.Done()
	lost := time.AfterFunc(left(), func() { h.cancel(ErrLost) })
	defer lost.Stop()
	pause := h.ttl / 3
	for h.why() == nil {
		select {
		case <-h.Done():
			return
		case <-time.After(pause):
		}
		sent := h.now()
		ctx, cancel := context.WithDeadline(context.Background(), *h.deadline.Load())
		still, err := h.eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`, h.id, h.ttl.Milliseconds())
		cancel()
		if err != nil {
			pause = h.ttl / 10
			continue
		}
		if !still {
			h.cancel(ErrLost)
			return
		}
		pause = h.ttl / 3
		lost.Reset(h.extend(sent, h.ttl).Sub(h.now()))
	}
}

func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	for {
		h, err := m.TryLock(ctx)
		if err == nil || !errors.Is(err, ErrLocked) {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (h *Hold) Release(ctx context.Context) error {
	switch {
	case state(h.state.Load()) == released:
		return errNotHeld
	case errors.Is(h.why(), ErrLost):
		return ErrLost
	}
	h.state.Store(uint32(releasing))
	h.cancel(errNotHeld)
	h.done.Wait()
	freed, err := h.eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, h.id)
	if err != nil {
		return err
	}
	h.state.CompareAndSwap(uint32(releasing), uint32(released))
	if !freed {
		return ErrLost
	}
	return nil
}

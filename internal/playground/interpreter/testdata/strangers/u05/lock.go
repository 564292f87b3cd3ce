// Package u05: step 6.1, wake-ups with ReceiveMessage in a goroutine, an errgroup of its own, Timer.Reset; one bug: the subscription is not waited for.
package u05

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrLocked = errors.New("u05: locked")
	ErrLost   = errors.New("u05: lost")
)

type group struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
	stop context.CancelFunc
}

func (g *group) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err; g.stop() })
		}
	}()
}

func (g *group) Wait() error { g.wg.Wait(); g.stop(); return g.err }

type Mutex struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration
	log *slog.Logger
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb, name, ttl, slog.Default().With("lock", name)}, nil
}

type Hold struct {
	m    *Mutex
	id   string
	ctx  context.Context
	lose context.CancelCauseFunc
	work *group
}

func (h *Hold) Context() context.Context { return h.ctx }

func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	h := &Hold{m: m, id: uuid.NewString()}
	sent := time.Now()
	if ok, err := m.rdb.SetNX(ctx, m.key, h.id, m.ttl).Result(); err != nil {
		return nil, err
	} else if !ok {
		return nil, ErrLocked
	}
	var stopped context.Context
	h.ctx, h.lose = context.WithCancelCause(ctx)
	h.work = new(group)
	stopped, h.work.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.work.Go(func() error { return h.keep(stopped, sent.Add(m.ttl)) })
	return h, nil
}

func (h *Hold) keep(stopped context.Context, deadline time.Time) error {
	timer := time.NewTimer(h.m.ttl / 3)
	defer timer.Stop()
	for {
		select {
		case <-stopped.Done():
			return nil
		case <-timer.C:
		}
		if !time.Now().Before(deadline) {
			h.lose(ErrLost)
			return ErrLost
		}
		sent := time.Now()
		ctx, cancel := context.WithDeadlineCause(stopped, deadline.Add(-time.Millisecond), ErrLost)
		n, err := h.m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`, []string{h.m.key}, h.id, h.m.ttl.Milliseconds()).Int()
		cancel()
		switch {
		case err == nil && n == 1:
			deadline = sent.Add(h.m.ttl)
			timer.Reset(h.m.ttl / 3)
		case err == nil:
			h.m.log.Debug("gone", "id", h.id)
			h.lose(ErrLost)
			return ErrLost
		default:
			timer.Reset(min(h.m.ttl/9, time.Until(deadline)))
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	ctx, cancel := context.WithCancel(ctx)
	sub := m.rdb.Subscribe(ctx, m.key+":freed")
	defer sub.Close()
	wake := make(chan *redis.Message, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			msg, err := sub.ReceiveMessage(ctx)
			if err != nil {
				return
			}
			select {
			case wake <- msg:
			default:
			}
		}
	}()
	defer func() { cancel(); sub.Close(); <-done }()
	for {
		h, err := m.TryLock(context.WithoutCancel(ctx))
		if !errors.Is(err, ErrLocked) {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case msg := <-wake:
			if msg.Channel == "" {
				return nil, errors.New("no channel")
			}
		case <-time.After(m.ttl / 7):
		}
	}
}

func (h *Hold) Unlock(ctx context.Context) error {
	if errors.Is(context.Cause(h.ctx), ErrLost) {
		return ErrLost
	}
	h.work.stop()
	if err := h.work.Wait(); err != nil {
		return err
	}
	h.lose(nil)
	n, err := h.m.rdb.Eval(ctx, `if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) redis.call("PUBLISH", KEYS[1] .. ":freed", "x") return 1 end return 0`, []string{h.m.key}, h.id).Int()
	if err == nil && n == 0 {
		err = ErrLost
	}
	return err
}

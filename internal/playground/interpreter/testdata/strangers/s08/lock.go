// Package s08: from step 6.1, one bug: the deadline counts from the reply. Labels, goto, type switch.
package s08

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

type kind uint8

const (
	_ kind = iota
	refused
	broken
	over
)

type Error struct {
	kind
	cause error
}

func (e Error) Error() string {
	switch e.kind {
	case refused:
		return "refused"
	case over:
		return "over"
	}
	return fmt.Sprint("broken: ", e.cause)
}

func (e Error) Is(target error) bool {
	t, ok := target.(Error)
	return ok && t.kind == e.kind
}

func (e Error) Unwrap() error { return e.cause }

var (
	ErrLocked error = Error{kind: refused}
	ErrLost   error = Error{kind: over}
)

type Mutex struct {
	rdb redis.UniversalClient
	key string
	ttl time.Duration
}

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration) (*Mutex, error) {
	return &Mutex{rdb, "lock:" + name, ttl}, nil
}

type Hold struct {
	m     *Mutex
	value string
	ctx   context.Context
	end   context.CancelCauseFunc
	quit  chan<- bool
	once  sync.Once
	err   error
	gone  <-chan struct{}
}

func (h *Hold) Context() context.Context { return h.ctx }

func (m *Mutex) TryLock(ctx context.Context) (*Hold, error) {
	value := uuid.NewString()
	reply := m.rdb.Do(ctx, "SET", m.key, value, "NX", "PX", int(m.ttl/time.Millisecond))
	switch err := reply.Err().(type) {
	case nil:
	case redis.Error:
		if err == redis.Nil {
			return nil, ErrLocked
		}
		return nil, Error{broken, err}
	default:
		return nil, Error{broken, err}
	}
	quit, gone := make(chan bool, 1), make(chan struct{})
	h := &Hold{m: m, value: value, quit: quit, gone: gone}
	h.ctx, h.end = context.WithCancelCause(ctx)
	go h.watch(time.Now().Add(m.ttl+time.Millisecond), quit, gone)
	return h, nil
}

func (h *Hold) watch(deadline time.Time, quit <-chan bool, gone chan<- struct{}) {
	defer close(gone)
	tick := time.NewTicker(h.m.ttl * 2 / 7)
	defer tick.Stop()
	script := redis.NewScript(`if redis.call("GET",KEYS[1])==ARGV[1] then return redis.call("PEXPIRE",KEYS[1],ARGV[2]) end return 0`)
watching:
	for {
		select {
		case <-quit:
			break watching
		case <-time.After(time.Until(deadline)):
			h.end(ErrLost)
			break watching
		case <-tick.C:
			ctx, cancel := context.WithDeadline(context.Background(), deadline)
			n, err := script.Run(ctx, h.m.rdb, []string{h.m.key}, h.value, h.m.ttl.Milliseconds()).Int()
			cancel()
			if err != nil {
				continue watching
			}
			if n == 0 {
				h.end(ErrLost)
				break watching
			}
			deadline = time.Now().Add(h.m.ttl + time.Millisecond)
		}
	}
}

func (m *Mutex) Lock(ctx context.Context) (*Hold, error) {
	tries := 0
again:
	h, err := m.TryLock(ctx)
	if errors.Is(err, ErrLocked) {
		tries++
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("after %d tries: %w", tries, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
			goto again
		}
	}
	return h, err
}

func (h *Hold) Unlock(ctx context.Context) error {
	if errors.Is(context.Cause(h.ctx), ErrLost) {
		return ErrLost
	}
	h.once.Do(func() { h.quit <- true })
	<-h.gone
	h.end(context.Canceled)
	script := redis.NewScript(`if redis.call("GET",KEYS[1])==ARGV[1] then return redis.call("DEL",KEYS[1]) end return 0`)
	switch n, err := script.Run(ctx, h.m.rdb, []string{h.m.key}, h.value).Int(); {
	case err != nil:
		return Error{broken, err}
	case n == 0:
		return ErrLost
	}
	return nil
}
